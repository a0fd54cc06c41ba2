import type { Address } from "../../base/primitives/address.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { isJsonObject } from "../../base/primitives/shape.ts";
import {
  createNextKey,
  formerKeys,
  readNextKey,
  readValidatorKey,
  type ValidatorKey,
} from "../../consensus/cometbft/signing/key-files.ts";
import type { Config } from "../../node/config/config.ts";
import { remoteSignerOf } from "../../node/config/remote-signer.ts";
import { connectToHome, type RpcConnection } from "../console/connection.ts";
import type { CliContext } from "../context.ts";
import { CommandError } from "../errors.ts";
import { engineHome } from "./engine.ts";

/** A vote takes effect in the next blocks: looking more often shows nothing new. */
const POLL_MS = 1_000;

/** The validators and the votes about them, as the running node has them. */
type ValidatorSet = {
  readonly signers: readonly Address[];
  /** Votes about an address, of those who count. */
  readonly tally: ReadonlyMap<Address, number>;
};

/** What is to be done about the key of a home now. */
export type RotationStep =
  /** The new key has to be voted in. */
  | { readonly kind: "voteIn"; readonly key: ValidatorKey }
  /** It is in, and the node starts CometBFT with it. */
  | { readonly kind: "switch"; readonly key: ValidatorKey }
  /** The old key has to be voted out. */
  | { readonly kind: "voteOut"; readonly address: Address; readonly key: ValidatorKey }
  | { readonly kind: "done"; readonly key: ValidatorKey; readonly oldFiles: readonly string[] };

/**
 * The next step of the rotation, derived only from the home's files and the validator set, so that it survives any interruption. Makes the
 * new key where no rotation has begun.
 * @param directory CometBFT's home
 */
export function nextRotationStep(directory: string, signers: readonly Address[]): RotationStep {
  const key = readValidatorKey(directory);
  const former = formerKeys(directory);
  const next = readNextKey(directory);
  if (next !== undefined && next.address !== key.address) {
    return { kind: signers.includes(next.address) ? "switch" : "voteIn", key: next };
  }
  const old = former.find(({ address }) => signers.includes(address));
  if (old !== undefined) return { kind: "voteOut", address: old.address, key };
  if (former.length > 0) return { kind: "done", key, oldFiles: former.map(({ file }) => file) };
  return { kind: "voteIn", key: createNextKey(directory) };
}

/**
 * Replaces the validator's key: makes a new one, casts this node's votes for it, waits until the node signs with it, and votes the old one out. It can
 * be ended and called again at any time.
 * @throws CommandError
 */
export async function rotateKey(
  config: Config,
  { wait }: { readonly wait: boolean },
  context: CliContext,
): Promise<void> {
  const directory = engineHome(config.home);
  if (remoteSignerOf(config) !== undefined) {
    throw new CommandError("the key is in a remote signer: see docs/operations/keys.md");
  }
  const node = await connectToHome(config);
  if (node === undefined) {
    const { key } = nextRotationStep(directory, []);
    print(context, `key         ${key.address} ${bytesToHex(key.publicKey)}`);
    throw new CommandError(`no node is running on ${config.home}: start it, then run this command again`);
  }
  let shown = "";
  try {
    for (;;) {
      const set = await validatorsOf(node);
      const step = nextRotationStep(directory, set.signers);
      await vote(node, step);
      const text = textOf(step, set);
      if (text !== shown) print(context, text);
      shown = text;
      if (step.kind === "done" || !wait) return;
      await context.timers.sleep(POLL_MS);
    }
  } finally {
    node.close();
  }
}

/** Casts this node's votes for `step`, and no others about these keys: they would be cast again after each epoch. */
export async function vote(node: Pick<RpcConnection, "request">, step: RotationStep): Promise<void> {
  const { kind, key } = step;
  if (kind === "voteIn") {
    await node.request("clique_propose", [key.address, true, bytesToHex(key.publicKey)]);
    return;
  }
  if (kind === "voteOut") await node.request("clique_propose", [step.address, false]);
  // Also about the new key at each step: the one in which the node changes to it may pass between two looks.
  const decided = [key.address, ...(kind === "done" ? step.oldFiles.map(addressOfFile) : [])];
  const proposals = await node.request("clique_proposals", []);
  for (const address of decided) {
    if (isJsonObject(proposals) && address in proposals) await node.request("clique_discard", [address]);
  }
}

/** Of a former key's file. */
function addressOfFile(file: string): string {
  return `0x${/([0-9a-f]{40})\.json$/.exec(file)![1]}`;
}

function textOf(step: RotationStep, { signers, tally }: ValidatorSet): string {
  const needed = Math.floor(signers.length / 2) + 1;
  const votes = (about: Address) => `${tally.get(about) ?? 0} of the ${needed} votes are cast`;
  const { kind, key } = step;
  if (kind === "switch") return `switch      ${key.address} is a validator: the node starts signing with it`;
  if (kind === "done") {
    return [
      `done        ${key.address} signs`,
      ...step.oldFiles.map((file) => `old key     ${file}: delete it before the next rotation`),
    ].join("\n");
  }
  const about = kind === "voteIn" ? key.address : step.address;
  const call =
    kind === "voteIn"
      ? `clique_propose("${about}", true, "${bytesToHex(key.publicKey)}")`
      : `clique_propose("${about}", false)`;
  const subject = kind === "voteIn" ? "new key     " : "old key     ";
  return [
    `${subject}${about} needs votes to ${kind === "voteIn" ? "join" : "leave"}: ${votes(about)}`,
    `            on the other validators: ${call}`,
    `            and afterwards: clique_discard("${about}")`,
  ].join("\n");
}

/** @throws CommandError where the node answers with something else */
async function validatorsOf(node: RpcConnection): Promise<ValidatorSet> {
  const snapshot = await node.request("clique_getSnapshot", []);
  const { signers, tally } = isJsonObject(snapshot) ? snapshot : {};
  if (!isJsonObject(signers) || !isJsonObject(tally)) throw new CommandError("the node did not return its validators");
  return {
    signers: Object.keys(signers) as Address[],
    tally: new Map(
      Object.entries(tally).map(([address, about]) => [
        address as Address,
        isJsonObject(about) && typeof about["votes"] === "number" ? about["votes"] : 0,
      ]),
    ),
  };
}

function print({ stdout }: CliContext, text: string): void {
  stdout.write(`${text}\n`);
}
