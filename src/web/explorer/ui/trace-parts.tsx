import type { ComponentChildren } from "preact";
import type { Hex } from "../../../base/primitives/hex.ts";
import type { CallAmounts } from "./call-amounts.ts";
import { type Argument, decodeCall, decodeLog, decodeRevert } from "./contracts/contracts.ts";
import { clippedName, useContracts } from "./contracts/known-contracts.ts";
import { bytesOfHex, count, ether, percentText, shortWord } from "./format.ts";
import { BlockLink } from "./lists.tsx";
import { AddressText, HexText, Table } from "./parts.tsx";
import type { Log } from "./rpc.ts";
import { isOfContract } from "./tokens/holders.ts";

/**
 * Arguments of a call or an event, one per line.
 * @param props.amount the last argument as a token amount
 */
export function Arguments({
  args,
  amount,
}: {
  readonly args: readonly Argument[];
  readonly amount?: string | undefined;
}) {
  if (args.length === 0) return null;
  return (
    <Table
      label="Arguments"
      head={["Name", "Type", "Value"]}
      rows={args.map(({ name, type, text }, at) => [
        name,
        <span key="type" class="muted">
          {type}
        </span>,
        type === "address" ? (
          <AddressText key="value" value={text} isWhole />
        ) : (
          <span key="value">
            <code>{text}</code>
            {amount !== undefined && at === args.length - 1 && <span class="muted"> ({amount})</span>}
          </span>
        ),
      ])}
    />
  );
}

/** @param props.hasPlaces shows the position of each log, for logs of several transactions */
export function Logs({ logs, hasPlaces = false }: { readonly logs: readonly Log[]; readonly hasPlaces?: boolean }) {
  useContracts(logs.map(({ address }) => address));
  if (logs.length === 0) return <p class="empty">None.</p>;
  return (
    <ol class="logs">
      {logs.map((log) => (
        <li key={`${log.transactionHash} ${log.logIndex}`}>
          <LogView log={log} hasPlace={hasPlaces} />
        </li>
      ))}
    </ol>
  );
}

function eventName(name: string | undefined): string {
  return name === undefined ? "unknown event" : clippedName(name);
}

function LogView({ log, hasPlace }: { log: Log; hasPlace: boolean }) {
  const decoded = decodeLog(log);
  return (
    <>
      <div class="line">
        <span class="muted">#{Number(log.logIndex)}</span>
        <b>{isOfContract(log) ? eventName(decoded?.name) : "Ether transfer"}</b>
        {hasPlace ? (
          <>
            <span>
              block <BlockLink number={log.blockNumber} />
            </span>
            <HexText value={log.transactionHash} to={`/tx/${log.transactionHash}`} />
          </>
        ) : (
          <AddressText value={log.address} />
        )}
      </div>
      {decoded ? <Arguments args={decoded.args} /> : <pre>{[...log.topics, log.data].join("\n")}</pre>}
    </>
  );
}

/** The calls of a tree: a bounded number, since a node may answer a tree of any size. */
export function callsIn(frame: Frame): readonly Frame[] {
  const found = [frame];
  for (let at = 0; at < found.length && found.length < CALLS_MAX; at++) found.push(...(found[at]!.calls ?? []));
  return found.slice(0, CALLS_MAX);
}

const CALLS_MAX = 1_000;

/** Addresses of a call tree, for names and ABIs: a bounded number, since a node may answer a tree of any size. */
export function addressesIn(frame: Frame, found = new Set<string>()): ReadonlySet<string> {
  const stack = [frame];
  while (stack.length > 0 && found.size < ADDRESSES_MAX) {
    const { to, calls = [] } = stack.pop()!;
    if (to) found.add(to);
    stack.push(...calls.slice(0, ADDRESSES_MAX));
  }
  return found;
}

const ADDRESSES_MAX = 100;

/** A frame of `callTracer`. */
export type Frame = {
  readonly type: string;
  readonly from: Hex;
  readonly to?: Hex;
  readonly value?: Hex;
  readonly gasUsed: Hex;
  readonly input: Hex;
  readonly output?: Hex;
  readonly error?: string;
  readonly revertReason?: string;
  readonly calls?: readonly Frame[];
};

/** Depth of the EVM's call stack; a node may return deeper trees, which a browser cannot draw. */
const DEPTH_MAX = 1025;

/** The message calls of a transaction as a tree: gas, value, and where it reverted. */
export function CallTree(props: {
  readonly frame: Frame;
  readonly total: string;
  readonly amounts: CallAmounts;
  readonly depth?: number;
}) {
  const { frame, total, amounts, depth = 1 } = props;
  const calls = depth < DEPTH_MAX ? (frame.calls ?? []) : [];
  return (
    <ul class="calls">
      <li>
        <FrameLine frame={frame} total={total} amounts={amounts} />
        {calls.map((call, at) => (
          <CallTree key={at} frame={call} total={total} amounts={amounts} depth={depth + 1} />
        ))}
      </li>
    </ul>
  );
}

function FrameLine({ frame, total, amounts }: { frame: Frame; total: string; amounts: CallAmounts }) {
  const { type, to, value = "0x0", gasUsed, input, error } = frame;
  const isCreation = type.startsWith("CREATE");
  const decoded = isCreation ? undefined : decodeCall(to ?? null, input);
  const reason = error === undefined ? undefined : reasonOf(frame);
  const amount = amounts(to, decoded);
  return (
    <div class={`line${error === undefined ? "" : " failed"}`}>
      <span class="tag">{type}</span>
      {to && <AddressText value={to} />}
      <b>
        {decoded
          ? `${decoded.name}(${decoded.args.map(({ text }) => shortened(text)).join(", ")})`
          : callText(input, isCreation)}
      </b>
      {amount !== undefined && <span>{amount}</span>}
      {/[1-9a-f]/i.test(value.slice(2)) && <span>{ether(value)}</span>}
      <span class="muted">
        {count(gasUsed)} gas ({percentText(gasUsed, total)})
      </span>
      {reason !== undefined && <span class="bad">✗ {reason}</span>}
    </div>
  );
}

const ARGUMENT_LENGTH_MAX = 46;

function shortened(text: string): string {
  return text.length > ARGUMENT_LENGTH_MAX ? `${text.slice(0, ARGUMENT_LENGTH_MAX)}…` : text;
}

function callText(input: Hex, isCreation: boolean): string {
  if (isCreation) return `${count(bytesOfHex(input))} bytes of init code`;
  if (input === "0x") return "";
  return `${input.slice(0, 10)} (${count(bytesOfHex(input))} bytes)`;
}

function reasonOf({ to, output = "0x", error, revertReason }: Frame): string {
  const decoded = decodeRevert(to ?? null, output);
  if (decoded === undefined) return revertReason ?? error ?? "";
  return `${decoded.name}(${decoded.args.map(({ text }) => text).join(", ")})`;
}

type AccountDiff = {
  readonly balance?: string;
  readonly nonce?: number;
  readonly code?: string;
  readonly storage?: Readonly<Record<string, string>>;
};

/** The result of `prestateTracer` in diff mode. */
export type StateDiff = {
  readonly pre: Readonly<Record<string, AccountDiff>>;
  readonly post: Readonly<Record<string, AccountDiff>>;
};

type Row = readonly [address: string, what: ComponentChildren, before: string, after: string];

/** Balances, nonces, codes and slots that a transaction changed, before and after. */
export function StateChanges({ diff, feeRecipient }: { readonly diff: StateDiff; readonly feeRecipient: string }) {
  const addresses = [...new Set([...Object.keys(diff.pre), ...Object.keys(diff.post)])];
  const rows = addresses.flatMap((address) => rowsOf(address, diff.pre[address] ?? {}, diff.post[address] ?? {}));
  const isRecipient = (address: string) => address.toLowerCase() === feeRecipient.toLowerCase();
  return (
    <Table
      label="State changes"
      head={["Account", "What", "Before", "After"]}
      numeric={[2, 3]}
      rows={rows.map(([address, what, before, after]) => [
        <AddressText key="address" value={address} />,
        what === "balance" && isRecipient(address) ? "balance (receives the tips of this block’s transactions)" : what,
        before,
        after,
      ])}
    />
  );
}

function rowsOf(address: string, pre: AccountDiff, post: AccountDiff): readonly Row[] {
  const rows: Row[] = [];
  if (post.balance !== undefined) {
    rows.push([address, "balance", ether(pre.balance ?? "0x0"), ether(post.balance)]);
  }
  if (post.nonce !== undefined) {
    rows.push([address, "nonce", count(pre.nonce ?? 0), count(post.nonce)]);
  }
  if (post.code !== undefined) {
    const size = (code: string) => `${count(bytesOfHex(code))} bytes`;
    rows.push([address, "code", size(pre.code ?? "0x"), size(post.code)]);
  }
  const slots = new Set([...Object.keys(pre.storage ?? {}), ...Object.keys(post.storage ?? {})]);
  for (const slot of slots) {
    const word = (account: AccountDiff) => shortWord(account.storage?.[slot] ?? "0x0");
    rows.push([address, <HexText key="" value={slot} />, word(pre), word(post)]);
  }
  return rows;
}
