import { useEffect, useState } from "preact/hooks";
import type { AbiFunction } from "viem";
import type { Hash } from "../../../../base/primitives/hash.ts";
import type { Hex } from "../../../../base/primitives/hex.ts";
import { decodeResult, encodeCall } from "../contracts/contracts.ts";
import { clippedName } from "../contracts/known-contracts.ts";
import { sendByNode } from "../dev-chain.ts";
import { count } from "../format.ts";
import { sendByWallet } from "../hooks.ts";
import { Status } from "../lists.tsx";
import { Failure, HexText } from "../parts.tsx";
import { call, type Receipt } from "../rpc.ts";

/** The sender: `wallet`, or an account of a dev chain's node; undefined without either. */
export type Sender = string | undefined;

/** A function of a contract with a field for each argument: called by the node, or sent as a transaction. */
export function FunctionForm(props: { item: AbiFunction; address: string; isRead: boolean; sender: Sender }) {
  const { item, address, isRead, sender } = props;
  const [typed, setTyped] = useState<readonly string[]>(item.inputs.map(() => ""));
  const [value, setValue] = useState("");
  const [result, setResult] = useState<string>();
  const [sent, setSent] = useState<Hash>();
  const [error, setError] = useState<unknown>();
  async function run(event: Event) {
    event.preventDefault();
    try {
      setError(undefined);
      const data = encodeCall(item, typed);
      if (isRead) {
        setResult(decodeResult(item, await call<Hex>("eth_call", { to: address, data }, "latest")));
      } else {
        setSent(undefined);
        const transaction = { to: address, data, value: BigInt(value || "0") };
        const isNodes = sender !== undefined && sender !== "wallet";
        setSent(await (isNodes ? sendByNode(sender, transaction) : sendByWallet(transaction)));
      }
    } catch (failure) {
      setError(failure);
    }
  }
  return (
    <form class="function" onSubmit={(event) => void run(event)}>
      <b>{clippedName(item.name)}</b>
      {item.inputs.map((input, at) => (
        <label key={`${at} ${input.name}`}>
          {input.name || `argument ${at}`} <span class="muted">{input.type}</span>
          <input value={typed[at]} onInput={({ currentTarget }) => setTyped(typed.with(at, currentTarget.value))} />
        </label>
      ))}
      {item.stateMutability === "payable" && (
        <label>
          value <span class="muted">wei</span>
          <input value={value} onInput={({ currentTarget }) => setValue(currentTarget.value)} />
        </label>
      )}
      <button type="submit" disabled={!isRead && sender === undefined}>
        {isRead ? "Read" : "Send"}
      </button>
      {result !== undefined && <output>{result}</output>}
      {sent !== undefined && <SentTransaction key={sent} hash={sent} />}
      {error !== undefined && <Failure error={error} />}
    </form>
  );
}

const POLL_MS = 1000;

/** A transaction and, once it is mined, its outcome. */
function SentTransaction({ hash }: { readonly hash: Hash }) {
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isCurrent = true;
    async function poll() {
      // A node that does not answer now may answer later.
      const found = await call<Receipt | null>("eth_getTransactionReceipt", hash).catch(() => null);
      if (!isCurrent) return;
      setReceipt(found);
      if (found === null) timer = setTimeout(() => void poll(), POLL_MS);
    }
    void poll();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, []);
  return (
    <output>
      <HexText value={hash} to={`/tx/${hash}`} />{" "}
      {receipt === null ? (
        "waiting for a block …"
      ) : (
        <>
          <Status status={receipt.status} /> in block {count(receipt.blockNumber)}
        </>
      )}
    </output>
  );
}
