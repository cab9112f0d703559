/** Mutations of people and organizations. */
import { DIRECTORY_SIZES } from '../world/directory.js';
import { trailing } from '../world/base-context.js';
import { happened } from '../world/base-log.js';
import type { OrganizationFacts, PersonFacts } from '../world/facts.js';
import { phoneNumber, positionName } from '../world/words.js';
import { created, customEdit, handOver, pick, type LifeContext } from './context.js';

export function createPerson(context: LifeContext, over?: Partial<PersonFacts>): number {
  return created(context, 'create-person', (draft) => {
    const organization = context.roll.chance(0.8) ? pick(context, 'organization') : null;
    const person = draft.create('people', { organization, submissions: [], enrolments: [], refusal: null, ...over });
    draft.create('activity', happened(draft.at, person, { type: 'create' }));
    return person;
  });
}

export function createOrganization(context: LifeContext, over?: Partial<OrganizationFacts>): number {
  return created(context, 'create-organization', (draft) =>
    draft.create('organization', { submissions: [], sequences: [], ...over }),
  );
}

/** One edit as a user makes it in the web page: one field. */
export function personEdit(index: number, facts: PersonFacts, context: LifeContext): Partial<PersonFacts> {
  const { roll } = context;
  switch (roll.below(5)) {
    case 0:
      return { phone: phoneNumber(roll) };
    case 1:
      return { position: facts.position === null ? positionName(roll) : null };
    case 2:
      return { teams: facts.teams.length === 0 ? [roll.below(DIRECTORY_SIZES.team)] : facts.teams.slice(1) };
    case 3:
      return { organization: pick(context, 'organization', (_facts, each) => each !== facts.organization) };
    default:
      return customEdit(context, 'people', index, facts);
  }
}

/** A web form is submitted: the system updates fields, the change timestamp does not move. */
export function submitForm(context: LifeContext, person: number): void {
  const { world, roll } = context;
  world.change('submit-form', context.now(), (draft) => {
    const form = roll.below(DIRECTORY_SIZES.form);
    draft.edit('people', person, ({ submissions }) => ({ submissions: [...submissions, { form, at: draft.at }] }));
    const details = { type: 'webFormSubmit', form: world.directory.ref('form', form) };
    draft.create('activity', happened(draft.at, person, details));
  });
}

/** Adds the person to a mailing sequence, or ends the running one. Only system fields: the change timestamp does not move. */
export function enrol(context: LifeContext, person: number): void {
  const { world, roll } = context;
  world.change('enrol', context.now(), (draft) => {
    draft.edit('people', person, ({ enrolments }) => {
      const ended = enrolments.map((enrolment) => ({ ...enrolment, running: false }));
      if (enrolments.some(({ running }) => running)) return { enrolments: ended };
      const begun = { sequence: roll.below(DIRECTORY_SIZES.sequence), at: draft.at, running: true };
      return { enrolments: [...ended, begun] };
    });
  });
}

/** Merges a duplicate: the first person is removed, and its memos, todos and deals move to the second. */
export function mergePeople(context: LifeContext, gone: number, kept: number): void {
  const { world, roll } = context;
  world.change('merge-people', context.now(), (draft) => {
    handOver(draft, world, { list: 'people', index: gone }, kept);
    const loser = draft.get('people', gone);
    draft.edit('people', kept, (facts) => ({
      submissions: [...facts.submissions, ...(loser?.submissions ?? [])].sort((a, b) => a.at - b.at),
      updatedAt: trailing(draft.at, roll),
    }));
    draft.put('people', gone, null);
    draft.create('activity', happened(draft.at, kept, { type: 'merge' }));
  });
}
