import { nearest } from "../../../base/primitives/nearest.ts";

/** Unknown names per second to compare with all methods. */
const HINTS_PER_SECOND = 10;

/** Why a method was not found: a similar name, or a namespace that is not enabled. */
export class MethodHints {
  readonly #methods: () => Iterable<string>;
  readonly #now: () => number;
  #second = 0;
  #left = HINTS_PER_SECOND;

  constructor(methods: () => Iterable<string>, now: () => number) {
    this.#methods = methods;
    this.#now = now;
  }

  hintFor(method: string): string | undefined {
    const second = Math.floor(this.#now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#left = HINTS_PER_SECOND;
    }
    if (this.#left === 0) return undefined;
    this.#left--;
    const known = [...this.#methods()];
    if (known.includes(method)) return "because its namespace is not enabled (json-rpc.api)";
    const meant = nearest(method, known);
    return meant && `did you mean ${meant}?`;
  }
}
