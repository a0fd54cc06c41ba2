import type { DifferentialCase } from "./corpus/request.ts";
import { send } from "./geth.ts";
import { knownReason, withoutVersion } from "./known-differences.ts";

export type Answer = { readonly result?: unknown; readonly error?: unknown };

export type Difference = { readonly group: string; readonly sample: string };

export type Comparison = {
  readonly equal: number;
  /** Listed differences by reason. */
  readonly known: ReadonlyMap<string, number>;
  readonly differences: readonly Difference[];
};

/** Requests under way at a time. */
const PARALLEL = 6;
const SHOWN = 900;
const TRIES = 3;
const NEWER = "as newer versions of geth answer, not yet 1.17.0";

/** Sends every case to both nodes. */
export async function compare(
  own: string,
  geth: string,
  cases: readonly DifferentialCase[],
): Promise<Comparison> {
  let equal = 0;
  const known = new Map<string, number>();
  const differences: Difference[] = [];
  let next = 0;
  async function work(): Promise<void> {
    while (next < cases.length) {
      const each = cases[next++]!;
      const { method, params } = each;
      const [ours, theirs] = await Promise.all([
        ask(own, method, params),
        ask(geth, method, params),
      ]);
      const at = firstDifference(ours, theirs, "");
      if (at === undefined) {
        equal++;
        continue;
      }
      const left = withoutVersion(ours) as Answer;
      const right = withoutVersion(theirs) as Answer;
      const rest = firstDifference(left, right, "");
      const reason = rest === undefined ? NEWER : knownReason({ ...each, ours, theirs });
      if (reason !== undefined) known.set(reason, (known.get(reason) ?? 0) + 1);
      else differences.push(describe(each, left, right, rest ?? at));
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return { equal, known, differences };
}

async function ask(url: string, method: string, params: readonly unknown[]): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      const { result, error } = await send(url, method, params);
      return error === undefined ? { result } : { error };
    } catch (cause) {
      // A kept connection that the server closed in the same moment.
      if (tries === TRIES) throw new Error(`${method} to ${url}`, { cause });
    }
  }
}

/** Path of the first place where two JSON values differ; undefined when they are equal. */
export function firstDifference(a: unknown, b: unknown, path: string): string | undefined {
  if (a === b) return undefined;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null)
    return path || "/";
  if (Array.isArray(a) !== Array.isArray(b)) return path || "/";
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = firstDifference(left[key], right[key], `${path}/${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function describe(
  { name, method, params }: DifferentialCase,
  ours: Answer,
  theirs: Answer,
  at: string,
): Difference {
  const show = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, 300);
  const valueAt = (answer: Answer) =>
    at
      .split("/")
      .slice(1)
      .reduce<unknown>(
        (value, key) => (value as Record<string, unknown> | undefined)?.[key],
        answer,
      );
  const shape = at.replace(/\d+/g, "N").replace(/0x[0-9a-fN]+/g, "HEX");
  return {
    group: `${method} ${shape}`,
    sample: `[${name}] ${at}: ours ${show(valueAt(ours))} geth ${show(valueAt(theirs))}\n      ${JSON.stringify(params).slice(0, SHOWN)}`,
  };
}
