import type { RemotePorts } from "./remote-ports.ts";

/** What a method of a port is. */
export type PortMethod = {
  /** It reads at the block that `at` of its input selects. Only the chain has the pending block. */
  readonly at?: true;
  /** Its input may have `cancel`. */
  readonly cancel?: true;
  /** Whatever follows the store can answer it; any other method stays with the chain. */
  readonly follows?: true;
  /** It executes code within the limits of calls or traces: another thread is worth its message. */
  readonly heavy?: "call" | "trace";
  /**
   * The work that no deadline interrupts: all of it, the block's transactions before `request.txIndex`, or all transactions of the block it
   * names.
   */
  readonly uninterrupted?: "all" | "txIndex" | "block";
};

/** A method takes one object of plain data, or nothing. Its declaration must match the members of the object. */
type DeclarationOf<Parameters extends readonly unknown[]> = Parameters extends readonly []
  ? PortMethod & { readonly at?: never; readonly cancel?: never }
  : Parameters extends readonly [infer Input extends object]
    ? Input extends readonly unknown[]
      ? never
      : PortMethod & FlagOf<Input, "at"> & FlagOf<Input, "cancel">
    : never;

type FlagOf<Input, Name extends "at" | "cancel"> = Name extends keyof Input
  ? { readonly [N in Name]: true }
  : { readonly [N in Name]?: never };

/** The methods of a port, without constants and without `subscribe`, which has separate messages. */
type DeclarationsOf<Port> = {
  readonly [Name in keyof Port as Port[Name] extends (...args: never[]) => unknown
    ? Exclude<Name, "subscribe">
    : never]: Port[Name] extends (...args: infer Parameters) => unknown ? DeclarationOf<Parameters> : never;
};

const STAYS = {};
const STAYS_AT = { at: true } as const;
const READ = { follows: true } as const;
const READ_AT = { follows: true, at: true } as const;
const SEARCH = { follows: true, cancel: true } as const;
const CALL = { follows: true, at: true, cancel: true, heavy: "call" } as const;
const TRACE = { follows: true, cancel: true, heavy: "trace" } as const;
const TRACE_AT = { ...TRACE, at: true } as const;

/** Every method of the ports whose methods are partly answered elsewhere; a missing or wrong declaration does not compile. */
export const PORT_METHODS = {
  chain: {
    head: READ,
    oldest: READ,
    header: READ_AT,
    block: READ_AT,
    transactionCount: READ_AT,
    accessList: READ_AT,
    blockHashes: READ,
    transaction: READ,
    transactionAt: READ_AT,
    transactionBySender: READ,
    receipt: READ,
    account: READ_AT,
    code: READ_AT,
    accountWithCode: READ_AT,
    storage: READ_AT,
    storageValues: READ_AT,
    proof: READ_AT,
    logs: SEARCH,
    suggestTip: READ,
    feeHistory: READ_AT,
    addressPage: STAYS,
    pooled: STAYS,
    nextNonce: STAYS,
    poolContent: STAYS,
    poolContentFrom: STAYS,
    poolCounts: STAYS,
    submit: STAYS,
    nextBlock: STAYS,
  },
  execution: {
    call: CALL,
    estimateGas: CALL,
    createAccessList: CALL,
    callMany: { ...CALL, uninterrupted: "txIndex" },
    simulate: { ...CALL, uninterrupted: "all" },
    traceTransaction: { ...TRACE, uninterrupted: "block" },
    traceBlock: { ...TRACE_AT, uninterrupted: "block" },
    traceBlockText: { ...TRACE_AT, uninterrupted: "block" },
    traceBlockFrames: { ...TRACE_AT, uninterrupted: "block" },
    traceRawBlock: { ...TRACE, uninterrupted: "all" },
    traceCall: { ...TRACE_AT, uninterrupted: "txIndex" },
    traceBundles: { ...TRACE_AT, uninterrupted: "txIndex" },
    traceCalls: TRACE_AT,
    traceRawTransaction: TRACE_AT,
    executionWitness: { ...TRACE, uninterrupted: "all" },
    buildBlock: STAYS,
    commitBlock: STAYS,
  },
  inspection: {
    dumpState: STAYS_AT,
    storageRange: STAYS_AT,
    stateSize: STAYS_AT,
    modifiedAccounts: STAYS_AT,
    preimage: STAYS,
    storeStats: STAYS,
    compactStore: STAYS,
    row: STAYS,
    rewind: STAYS,
    badBlocks: STAYS,
    traceBadBlock: STAYS,
    traceBlockFile: STAYS,
    intermediateRoots: STAYS,
    writeStandardTraces: STAYS,
  },
} as const satisfies { readonly [Name in keyof RemotePorts]?: DeclarationsOf<RemotePorts[Name]> };

type Declared = typeof PORT_METHODS;
export type PortName = keyof Declared;
type PlainPortName = Exclude<keyof RemotePorts, PortName>;
type IsPlain<Declarations> = { readonly [Name in keyof Declarations]: typeof STAYS } extends Declarations
  ? true
  : never;

/** Ports whose methods all stay with the chain, read at no block and cannot be cancelled. Another method in them does not compile. */
const PLAIN: { readonly [Name in PlainPortName]: IsPlain<DeclarationsOf<RemotePorts[Name]>> } = {
  keys: true,
  node: true,
  dev: true,
  les: true,
  shh: true,
  runtime: true,
  tools: true,
  contracts: true,
};
export const PLAIN_PORTS = Object.keys(PLAIN) as readonly PlainPortName[];

/** The methods of a port that whatever follows the store can answer. */
export type Followed<Name extends PortName> = Pick<
  RemotePorts[Name],
  {
    [Method in keyof RemotePorts[Name]]: Method extends keyof Declared[Name]
      ? Declared[Name][Method] extends { readonly follows: true }
        ? Method
        : never
      : never;
  }[keyof RemotePorts[Name]]
>;

/** A method of any port, for code that is about all of them. The declarations say what its input has. */
export type AnyMethod = (input?: AnyInput) => unknown;
type AnyInput = { readonly at?: unknown };

/** The declared methods of a port. */
export function methodsOf(port: PortName): readonly (readonly [name: string, facts: PortMethod])[] {
  return Object.entries(PORT_METHODS[port]);
}

type FollowedStore = {
  /** Runs a read on the newest blocks. */
  readonly read: <T>(run: () => T) => T;
  /** Whether an error says that the store has damage: the chain, which can note it, then answers itself. */
  readonly isDamage: (error: unknown) => boolean;
};

/**
 * A whole port where the store is followed: `here` answers what it can, and `there`, the port of the chain, everything else and
 * whatever is about the pending block.
 */
export function followedPort<Name extends PortName>(
  port: Name,
  here: Followed<Name>,
  there: RemotePorts[Name],
  { read, isDamage }: FollowedStore,
): RemotePorts[Name] {
  const local = here as Readonly<Record<string, AnyMethod>>;
  const remote = there as unknown as Readonly<Record<string, AnyMethod>>;
  const followed = methodsOf(port).flatMap(([name, { follows }]) => {
    if (!follows) return [];
    const own = local[name]!;
    const chains = remote[name]!;
    const method: AnyMethod = (input) => {
      if (input?.at === "pending") return chains(input);
      const onFailure = (error: unknown) => {
        if (isDamage(error)) return chains(input);
        throw error;
      };
      try {
        const result = read(() => own(input));
        return result instanceof Promise ? result.catch(onFailure) : result;
      } catch (error) {
        return onFailure(error);
      }
    };
    return [[name, method]];
  });
  return { ...there, ...Object.fromEntries(followed) };
}
