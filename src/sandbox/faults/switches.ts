/** The active profile, faults and single switches. Behaviour changes at run time only here. */
import type { Behaviour } from './behaviour.js';
import type { FaultName } from './faults.js';
import { composed, faultNamed, profileNamed } from './profiles.js';

export type SwitchListener = (before: Behaviour, after: Behaviour) => void;

export class Switches {
  readonly #faults = new Set<FaultName>();
  readonly #listener: SwitchListener;
  #profile: string;
  #given: Partial<Behaviour>;
  #behaviour: Behaviour;

  /** @throws ChangefeedError CF_USAGE for an unknown profile or fault */
  constructor(profile: string, faults: readonly string[], given: Partial<Behaviour>, listener: SwitchListener) {
    this.#profile = profile;
    this.#given = given;
    this.#listener = listener;
    for (const fault of [...profileNamed(profile).faults, ...faults.map(faultNamed)]) this.#faults.add(fault);
    this.#behaviour = composed(this.#faults, given);
  }

  get behaviour(): Behaviour {
    return this.#behaviour;
  }

  get profile(): string {
    return this.#profile;
  }

  get faults(): readonly FaultName[] {
    return [...this.#faults];
  }

  /** Uses the faults of this profile and no others; single switches stay. @throws ChangefeedError CF_USAGE */
  useProfile(name: string): void {
    const { faults } = profileNamed(name);
    this.#profile = name;
    this.#faults.clear();
    for (const fault of faults) this.#faults.add(fault);
    this.#recompose();
  }

  /** @throws ChangefeedError CF_USAGE for an unknown fault */
  turn(name: string, to: 'on' | 'off'): void {
    const fault = faultNamed(name);
    if (to === 'on') this.#faults.add(fault);
    else this.#faults.delete(fault);
    this.#recompose();
  }

  /** Sets single switches. They override profile and faults. */
  set(changes: Partial<Behaviour>): void {
    this.#given = { ...this.#given, ...changes };
    this.#recompose();
  }

  #recompose(): void {
    const before = this.#behaviour;
    this.#behaviour = composed(this.#faults, this.#given);
    this.#listener(before, this.#behaviour);
  }
}
