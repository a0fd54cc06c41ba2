import { useEffect, useState } from "preact/hooks";
import { type AbiItem, selectorOf } from "../../../../dev/artifacts/abi.ts";
import { BATCH_MAX } from "../../page-methods.ts";
import { call, RpcError } from "../rpc.ts";
import { isAddress } from "../search-words.ts";

/** A contract that the node knows: from sources that it compiled, or from an artifact of the project. The page does not verify it. */
export type NodeContract = {
  /** lower case */
  readonly address: string;
  readonly name: string;
  readonly origin: "verified" | "artifacts";
  readonly match: "exact" | "same instructions";
  readonly abi: readonly AbiItem[];
  readonly compilerVersion?: string;
  readonly sources: Readonly<Record<string, string>>;
};

/** On a dev chain, an address can get another contract after a revert. */
const ENTRY_MS = 30_000;

type Entry = { readonly contract: NodeContract | undefined; readonly until: number };

const entries = new Map<string, Entry>();
let waiting: { readonly addresses: Set<string>; readonly done: Promise<void> } | undefined;
/** False once the node has answered that it lacks the method: it is another client. */
let isServed = true;

const isFresh = (address: string) => (entries.get(address)?.until ?? 0) > Date.now();

/** The node's last answer about the code at `address`; also undefined before the first request. */
export function nodeContractAt(address: string): NodeContract | undefined {
  return entries.get(address.toLowerCase())?.contract;
}

/** Contracts that any part of the page has requested. */
export function nodeContracts(): readonly NodeContract[] {
  return [...entries.values()].flatMap(({ contract }) => contract ?? []);
}

/** Asks the node about `addresses`, batched per turn. Never fails, since a page works without names. */
async function loadContracts(addresses: readonly string[]): Promise<void> {
  const missing = addresses.map((each) => each.toLowerCase()).filter((each) => isAddress(each) && !isFresh(each));
  if (missing.length === 0 || !isServed) return;
  if (waiting === undefined) {
    const asked = new Set<string>();
    waiting = {
      addresses: asked,
      done: Promise.resolve().then(() => {
        waiting = undefined;
        return ask([...asked]);
      }),
    };
  }
  for (const address of missing) waiting.addresses.add(address);
  await waiting.done;
}

async function ask(addresses: readonly string[]): Promise<void> {
  for (let at = 0; at < addresses.length && isServed; at += BATCH_MAX) {
    const some = addresses.slice(at, at + BATCH_MAX);
    try {
      const known = await call<(NodeContract | null)[]>("eth_getKnownContracts", some, false);
      const until = Date.now() + ENTRY_MS;
      some.forEach((address, i) => {
        entries.set(address, { contract: known[i] ?? undefined, until });
      });
    } catch (error) {
      if (error instanceof RpcError && error.isForbidden) isServed = false;
    }
  }
}

/** Like `loadContracts`, but redraws the component once the node has answered. */
export function useContracts(addresses: readonly string[]): void {
  const [, setVersion] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    const hasUnknown = isServed && addresses.some((address) => !isFresh(address.toLowerCase()));
    if (hasUnknown) void loadContracts(addresses).then(() => isCurrent && setVersion((version) => version + 1));
    return () => {
      isCurrent = false;
    };
  }, [addresses.join()]);
}

/** Maximum length of a contract's or token's name; longer ones are cut. */
const NAME_CHARS_MAX = 32;

/** A name chosen by strangers, clipped. Control characters are escaped when it is drawn. */
export function clippedName(name: string): string {
  const characters = [...name];
  return characters.length > NAME_CHARS_MAX ? `${characters.slice(0, NAME_CHARS_MAX).join("")}…` : name;
}

const selectors = new WeakMap<object, ReadonlyMap<string, string>>();

/** Function names of an ABI by selector. */
export function functionNames(abi: readonly AbiItem[]): ReadonlyMap<string, string> {
  let names = selectors.get(abi);
  if (names === undefined) {
    names = new Map(abi.flatMap((item) => namedSelector(item)));
    selectors.set(abi, names);
  }
  return names;
}

/** Empty for items that are not valid functions of a Solidity ABI: uploaded files may contain anything. */
function namedSelector(item: AbiItem): [selector: string, name: string][] {
  try {
    return item.type === "function" ? [[selectorOf(item), String(item.name ?? "")]] : [];
  } catch {
    return [];
  }
}
