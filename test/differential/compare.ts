import { readFileSync } from "node:fs";
import type { DifferentialCase } from "./corpus/request.ts";
import { type Answer, firstDifference } from "./difference.ts";
import { send } from "./geth.ts";
import { knownReason, withSortedSets } from "./known-differences.ts";

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
const SORTED = "geth lists sets in any order";

/** Answers one case. */
export type Peer = (wanted: DifferentialCase) => Promise<Answer>;

/** Puts every case to both. */
export async function compare<Case extends DifferentialCase>(
  own: Peer,
  geth: (wanted: Case) => Promise<Answer>,
  cases: readonly Case[],
): Promise<Comparison> {
  let equal = 0;
  const known = new Map<string, number>();
  const differences: Difference[] = [];
  let next = 0;
  async function work(): Promise<void> {
    while (next < cases.length) {
      const each = cases[next++]!;
      const [ours, theirs] = await Promise.all([own(each), geth(each)]);
      const at = firstDifference(ours, theirs);
      if (at === undefined) {
        equal++;
        continue;
      }
      const left = withSortedSets(ours) as Answer;
      const right = withSortedSets(theirs) as Answer;
      const rest = firstDifference(left, right);
      const reason = rest === undefined ? SORTED : knownReason({ ...each, ours, theirs });
      if (reason !== undefined) known.set(reason, (known.get(reason) ?? 0) + 1);
      else differences.push(describe(each, left, right, rest ?? at));
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return { equal, known, differences };
}

/** The node at `url`. Traces that it writes to files are answered with the texts of the files. */
export function peerAt(url: string, headers: () => Readonly<Record<string, string>> = () => ({})): Peer {
  return async ({ method, params }) => {
    for (let tries = 1; ; tries++) {
      try {
        const { result, error } = await send(url, method, params, headers());
        if (error !== undefined) return { error };
        const isFiles = method.startsWith("debug_standardTrace") && Array.isArray(result);
        return { result: isFiles ? result.map((file) => readFileSync(file, "utf8")) : result };
      } catch (cause) {
        // A kept connection that the server closed in the same moment.
        if (tries === TRIES) throw new Error(`${method} to ${url}`, { cause });
      }
    }
  };
}

function describe({ name, method, params }: DifferentialCase, ours: Answer, theirs: Answer, at: string): Difference {
  const show = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, 300);
  const valueAt = (answer: Answer) =>
    at
      .split("/")
      .slice(1)
      .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], answer) ?? answer.error;
  const shape = at.replace(/\d+/g, "N").replace(/0x[0-9a-fN]+/g, "HEX");
  return {
    group: `${method} ${shape}`,
    sample: `[${name}] ${at}: ours ${show(valueAt(ours))} geth ${show(valueAt(theirs))}\n      ${JSON.stringify(params).slice(0, SHOWN)}`,
  };
}
