import type { Hex } from "../../primitives/hex.ts";
import { contractAt, decodeCall, decodeRevert } from "./contracts.ts";
import { bytesOfHex, count, ether, percent } from "./format.ts";
import { HexText } from "./parts.tsx";

/** A frame as `callTracer` answers it. */
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

/** Depth of the EVM's call stack; a node may answer deeper ones, which a browser cannot draw. */
const DEPTH_MAX = 1025;

/** The message calls of a transaction as a tree: gas, value, and where it reverted. */
export function CallTree(props: {
  readonly frame: Frame;
  readonly total: string;
  readonly depth?: number;
}) {
  const { frame, total, depth = 1 } = props;
  const calls = depth < DEPTH_MAX ? (frame.calls ?? []) : [];
  return (
    <ul class="calls">
      <li>
        <FrameLine frame={frame} total={total} />
        {calls.map((call, at) => (
          <CallTree key={at} frame={call} total={total} depth={depth + 1} />
        ))}
      </li>
    </ul>
  );
}

function FrameLine({ frame, total }: { frame: Frame; total: string }) {
  const { type, to, value = "0x0", gasUsed, input, error } = frame;
  const isCreation = type.startsWith("CREATE");
  const decoded = isCreation ? undefined : decodeCall(to ?? null, input);
  const reason = error === undefined ? undefined : reasonOf(frame);
  return (
    <div class={`line${error === undefined ? "" : " failed"}`}>
      <span class="tag">{type}</span>
      {to && <HexText value={to} to={`/address/${to}`} name={contractAt(to)?.name} />}
      <b>
        {decoded
          ? `${decoded.name}(${decoded.args.map(({ text }) => shortened(text)).join(", ")})`
          : callText(input, isCreation)}
      </b>
      {/[1-9a-f]/i.test(value.slice(2)) && <span>{ether(value)}</span>}
      <span class="muted">
        {count(gasUsed)} gas ({percent(gasUsed, total).toFixed(1)} %)
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
