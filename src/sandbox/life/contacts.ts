/** Mutations of people and organizations. */
import { customValues, editCustom } from '../world/custom.js';
import { DIRECTORY_SIZES } from '../world/directory.js';
import { teamsOf } from '../world/base-contacts.js';
import type { OrganizationFacts, PersonFacts } from '../world/facts.js';
import { companyName, personName, phoneNumber, positionName, refusalReason } from '../world/words.js';
import { activityRow } from './log.js';
import { another, bornNow, handOver, pick, trailing, type LifeContext } from './context.js';

type Over<F> = Partial<F> | undefined;

export function createPerson(context: LifeContext, over?: Over<PersonFacts>): number {
  const { world, roll } = context;
  let created = -1;
  world.change('create-person', context.now(), (draft) => {
    const facts: PersonFacts = {
      ...newContact(context, draft.at, personName(roll)),
      organization: roll.chance(0.8) ? pick(context, 'organization') : null,
      position: positionName(roll),
      enrolments: [],
      refusal: null,
      custom: customValues('people', roll, draft.at, world.directory),
      ...over,
    };
    created = draft.create('people', facts);
    draft.create('activity', activityRow(draft.at, created, { type: 'create' }));
  });
  return created;
}

export function createOrganization(context: LifeContext, over?: Over<OrganizationFacts>): number {
  const { world, roll } = context;
  let created = -1;
  world.change('create-organization', context.now(), (draft) => {
    const custom = customValues('organization', roll, draft.at, world.directory);
    created = draft.create('organization', {
      ...newContact(context, draft.at, companyName(roll)),
      sequences: [],
      custom,
      ...over,
    });
  });
  return created;
}

function newContact({ roll }: LifeContext, at: number, name: string) {
  return {
    ...bornNow(at),
    updatedAt: trailing(at, roll),
    name,
    email: `n${roll.below(1e9)}@example.invalid`,
    phone: phoneNumber(roll),
    picture: null,
    linkedin: null,
    owner: roll.below(DIRECTORY_SIZES.user),
    teams: teamsOf(roll),
    submissions: [],
  };
}

/** One edit as a user makes it in the web page: one field and the change timestamp. */
export function editPerson(context: LifeContext, index: number, over?: Over<PersonFacts>): void {
  const { world, roll } = context;
  world.change('edit-person', context.now(), (draft) => {
    draft.edit('people', index, (facts) => ({
      ...(over ?? personEdit(index, facts, context)),
      updatedAt: trailing(draft.at, roll),
    }));
  });
}

function personEdit(index: number, facts: PersonFacts, context: LifeContext): Partial<PersonFacts> {
  const { roll, world } = context;
  switch (roll.below(5)) {
    case 0:
      return { phone: phoneNumber(roll) };
    case 1:
      return { position: facts.position === null ? positionName(roll) : null };
    case 2:
      return { teams: facts.teams.length === 0 ? [roll.below(DIRECTORY_SIZES.team)] : facts.teams.slice(1) };
    case 3:
      return { organization: otherOrganization(facts.organization, context) };
    default:
      return {
        custom: editCustom('people', world.customOf('people', index, facts), roll, context.now(), world.directory),
      };
  }
}

function otherOrganization(now: number | null, context: LifeContext): number | null {
  return pick(context, 'organization', (_facts, index) => index !== now);
}

export function editOrganization(context: LifeContext, index: number, over?: Over<OrganizationFacts>): void {
  const { world, roll } = context;
  world.change('edit-organization', context.now(), (draft) => {
    draft.edit('organization', index, (facts) => ({
      ...(over ?? {
        custom: editCustom(
          'organization',
          world.customOf('organization', index, facts),
          roll,
          draft.at,
          world.directory,
        ),
      }),
      updatedAt: trailing(draft.at, roll),
    }));
  });
}

/** Assigns the record to another user. */
export function assign(context: LifeContext, list: 'people' | 'organization', index: number): void {
  const { world, roll } = context;
  world.change(list === 'people' ? 'assign-person' : 'assign-organization', context.now(), (draft) => {
    draft.edit(list, index, ({ owner }) => ({
      owner: another(roll, DIRECTORY_SIZES.user, owner),
      updatedAt: trailing(draft.at, roll),
    }));
  });
}

/** A web form is submitted: the system updates fields, the change timestamp does not move. */
export function submitForm(context: LifeContext, person: number): void {
  const { world, roll } = context;
  world.change('submit-form', context.now(), (draft) => {
    const form = roll.below(DIRECTORY_SIZES.form);
    draft.edit('people', person, ({ submissions }) => ({ submissions: [...submissions, { form, at: draft.at }] }));
    draft.create(
      'activity',
      activityRow(draft.at, person, { type: 'webFormSubmit', form: world.directory.ref('form', form) }),
    );
  });
}

/** Adds the person to a mailing sequence, or ends the running one. Only system fields: the change timestamp does not move. */
export function enrol(context: LifeContext, person: number): void {
  const { world, roll } = context;
  world.change('enrol', context.now(), (draft) => {
    draft.edit('people', person, ({ enrolments }) => {
      const ended = enrolments.map((enrolment) => ({ ...enrolment, running: false }));
      if (enrolments.some(({ running }) => running)) return { enrolments: ended };
      return {
        enrolments: [...ended, { sequence: roll.below(DIRECTORY_SIZES.sequence), at: draft.at, running: true }],
      };
    });
  });
}

/** The person refuses mail, or accepts it again. */
export function refuse(context: LifeContext, person: number): void {
  const { world, roll } = context;
  world.change('refuse-mail', context.now(), (draft) => {
    draft.edit('people', person, ({ refusal }) => ({
      refusal: refusal === null ? { reason: roll.chance(0.5) ? refusalReason(roll) : null } : null,
      updatedAt: trailing(draft.at, roll),
    }));
  });
}

/** Only the change timestamp moves: a user saved a record without an edit. */
export function touch(context: LifeContext, list: 'people' | 'organization' | 'memo' | 'todo', index: number): void {
  const { world, roll } = context;
  world.change('touch', context.now(), (draft) =>
    draft.edit(list, index, () => ({ updatedAt: trailing(draft.at, roll) })),
  );
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
    draft.create('activity', activityRow(draft.at, kept, { type: 'merge' }));
  });
}

export function deleteContact(context: LifeContext, list: 'people' | 'organization', index: number): void {
  const { world } = context;
  world.change(list === 'people' ? 'delete-person' : 'delete-organization', context.now(), (draft) => {
    handOver(draft, world, { list, index }, null);
    draft.put(list, index, null);
  });
}
