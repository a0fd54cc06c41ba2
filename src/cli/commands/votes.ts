import { isForkName } from "../../chain/agreement/agreement.ts";
import { EPOCH_BLOCKS } from "../../consensus/voting/snapshot.ts";
import type { Config } from "../../node/config/config.ts";
import type { CliqueParameters, CliqueSnapshot } from "../../rpc/ports/voting.ts";
import type { CliContext } from "../context.ts";
import { askOwnNode } from "../doctor/ask.ts";
import { CommandError } from "../errors.ts";

/** What a node says of votes, over its own socket. */
export type VotesView = {
  readonly snapshot: Pick<CliqueSnapshot, "number" | "signers" | "votes">;
  readonly parameters: Pick<CliqueParameters, "agreed" | "votes" | "proposals">;
  /** About validators, by candidate. */
  readonly proposals: Readonly<Record<string, boolean>>;
};

/** Prints the open votes: who has voted, who has not, what differs, and the call that is missing. @throws CommandError when no node runs */
export async function printVotes(config: Config, { stdout, timers }: CliContext): Promise<void> {
  const node = await askOwnNode(config, timers);
  if (node === undefined) throw new CommandError(`no node is running on ${config.home}`);
  try {
    const [snapshot, parameters, proposals] = await Promise.all(
      ["clique_getSnapshot", "clique_parameters", "clique_proposals"].map((method) => node.ask(method)),
    );
    stdout.write(renderVotes({ snapshot, parameters, proposals } as VotesView));
  } finally {
    node.close();
  }
}

/** A subject of votes with what each validator votes for. */
type Subject = {
  readonly name: string;
  /** The value of each validator that has voted, the oldest vote first. */
  readonly cast: readonly { readonly signer: string; readonly value: string }[];
  /** What this node casts when it proposes a block; undefined: nothing. */
  readonly own: string | undefined;
  readonly callFor: (value: string) => string;
};

export function renderVotes(view: VotesView): string {
  const signers = Object.keys(view.snapshot.signers);
  const needed = Math.floor(signers.length / 2) + 1;
  const { number } = view.snapshot;
  const end = number - (number % EPOCH_BLOCKS) + EPOCH_BLOCKS;
  const subjects = [...candidatesOf(view), ...parametersOf(view)];
  const head = `${signers.length} validators; ${needed} votes decide; votes count until block ${end}; the newest block is ${number}`;
  if (subjects.length === 0) return `${head}\nno open votes\n`;
  return [head, ...subjects.map((subject) => renderSubject(subject, signers, needed))].join("\n");
}

function renderSubject({ name, cast, own, callFor }: Subject, signers: readonly string[], needed: number): string {
  const values = [...new Set(cast.map(({ value }) => value))];
  const choices = values
    .map((value) => ({ value, votes: cast.filter((vote) => vote.value === value) }))
    .sort((a, b) => b.votes.length - a.votes.length);
  const wanted = choices[0]?.value ?? own ?? "";
  const missing = signers.filter((each) => !cast.some(({ signer }) => signer === each));
  const others = signers.filter((each) => !cast.some(({ signer, value }) => signer === each && value === wanted));
  const lines = [
    ...choices.map(({ value, votes }) => `  ${value}: ${votes.length} of ${needed} votes, ${listOf(votes)}`),
    ...(choices.length > 1 ? ["  values differ: only votes for the same value are counted together"] : []),
    ...(missing.length > 0 ? [`  not voted: ${missing.join(", ")}`] : []),
    ...(own === undefined ? [] : [`  this node votes ${own} when it proposes a block`]),
    `  call on ${others.join(", ")}:`,
    `    evmintd attach --exec '${callFor(wanted)}'`,
  ];
  return `\n${name}\n${lines.join("\n")}\n`;
}

function listOf(votes: Subject["cast"]): string {
  return votes.map(({ signer }) => signer).join(", ");
}

function candidatesOf({ snapshot, proposals }: VotesView): Subject[] {
  const names = new Set([...snapshot.votes.map(({ address }) => address), ...Object.keys(proposals)]);
  return [...names].flatMap((candidate) => {
    const votes = snapshot.votes.filter(({ address }) => address === candidate);
    const own = proposals[candidate];
    // Proposals stay after they are decided.
    const isDecided = votes.length === 0 && own === Object.hasOwn(snapshot.signers, candidate);
    if (isDecided) return [];
    const publicKey = votes.find((vote) => vote.publicKey !== undefined)?.publicKey ?? "PUBLIC_KEY";
    return {
      name: `validator ${candidate}`,
      cast: votes.map(({ signer, authorize }) => ({ signer, value: directionOf(authorize) })),
      own: own === undefined ? undefined : directionOf(own),
      callFor: (value) =>
        value === directionOf(true)
          ? `clique.propose("${candidate}", true, "${publicKey}")`
          : `clique.propose("${candidate}", false)`,
    };
  });
}

function directionOf(authorize: boolean): string {
  return authorize ? "in" : "out";
}

function parametersOf({ parameters }: VotesView): Subject[] {
  const { agreed, votes, proposals } = parameters;
  const isDecided = (name: string) => agreed[name] === proposals[name];
  const proposed = Object.keys(proposals).filter((name) => !isDecided(name));
  const names = new Set([...votes.map(({ name }) => name), ...proposed]);
  return [...names].map((name) => ({
    name,
    cast: votes.filter((vote) => vote.name === name).map(({ signer, value }) => ({ signer, value: String(value) })),
    own: proposals[name] === undefined ? undefined : String(proposals[name]),
    callFor: (value) =>
      isForkName(name)
        ? `clique.proposeFork("${name.replace(/Time$/, "")}", ${value})`
        : `clique.proposeParameter("${name}", ${value})`,
  }));
}
