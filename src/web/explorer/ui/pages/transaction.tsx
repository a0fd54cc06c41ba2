import type { Hash } from "../../../../base/primitives/hash.ts";
import { useCallAmounts } from "../call-amounts.ts";
import { type CheckedTransaction, checkMined } from "../checked.ts";
import { decodeCall } from "../contracts/contracts.ts";
import { clippedName, useContracts } from "../contracts/known-contracts.ts";
import { age, bytesOfHex, count, dateTime, ether, feeText, gwei, percentText } from "../format.ts";
import { loadedValue, useLoaded } from "../hooks.ts";
import { Status } from "../lists.tsx";
import { AddressText, Fields, HexText, LoadedPanel, Mark, Panel, Problem, Table, When } from "../parts.tsx";
import { call, type Transaction } from "../rpc.ts";
import { isHash } from "../search-words.ts";
import { TokenText } from "../tokens/token-text.tsx";
import { amountText, type TokenInfo, tokenInfo, transfersIn } from "../tokens/tokens.ts";
import {
  Arguments,
  addressesIn,
  CallTree,
  callsIn,
  type Frame,
  Logs,
  StateChanges,
  type StateDiff,
} from "../trace-parts.tsx";
import { verdictIn } from "./block.tsx";

async function loadTransaction(hash: string): Promise<Transaction> {
  const tx = await call<Transaction | null>("eth_getTransactionByHash", hash);
  if (tx === null) throw new Error(`There is no transaction ${hash}.`);
  return tx;
}

/** A transaction: its fields, outcome, calls and state changes, with their verification. */
export function TransactionPage({ hash }: { readonly hash: string }) {
  const loaded = useLoaded(async () => (isHash(hash) ? loadTransaction(hash) : undefined), [hash]);
  if (!isHash(hash)) {
    const text = `“${hash.slice(0, 80)}” is not the hash of a transaction: that is 0x and 64 hex digits.`;
    return <Problem title="Transaction" text={text} />;
  }
  return (
    <When
      loaded={loaded}
      show={(tx) => tx && <TransactionView key={hash} tx={tx} hash={hash.toLowerCase() as Hash} />}
    />
  );
}

function TransactionView({ tx, hash }: { tx: Transaction; hash: Hash }) {
  const checked = useLoaded(async () => (tx.blockHash === null ? undefined : checkMined(tx, hash)), [tx.hash]);
  const mined = loadedValue(checked);
  const txVerdict =
    tx.blockHash === null
      ? ({ kind: "unverified", reason: "it is in no block yet" } as const)
      : verdictIn(checked, (value) => value?.txVerdict);
  useContracts(tx.to === null ? [] : [tx.to]);
  const decoded = decodeCall(tx.to, tx.input);
  const amount = useCallAmounts([tx], tx.hash)(tx.to, decoded);
  return (
    <>
      <h1>Transaction</h1>
      <Panel title="Transaction" aside={<Mark verdict={txVerdict} what="transaction" />}>
        <Fields
          rows={[
            ["Hash", <HexText key="" value={tx.hash} isWhole />],
            [
              "Block",
              tx.blockNumber === null ? (
                "pending"
              ) : (
                <a key="" href={`#/block/${Number(tx.blockNumber)}`}>
                  {count(tx.blockNumber)}
                </a>
              ),
            ],
            ["From", <AddressText key="" value={tx.from} isWhole />],
            ["To", <To key="" tx={tx} created={mined?.receipt.contractAddress} />],
            ["Value", ether(tx.value)],
            ["Nonce", count(tx.nonce)],
            ["Gas limit", count(tx.gas)],
            ["Gas price", gwei(tx.gasPrice)],
            tx.maxFeePerGas !== undefined && [
              "Max fee",
              `${gwei(tx.maxFeePerGas)}, max priority fee ${gwei(tx.maxPriorityFeePerGas ?? "0x0")}`,
            ],
            ["Type", typeText(tx.type)],
          ]}
        />
      </Panel>
      {tx.blockHash !== null && <When loaded={checked} show={(value) => value && <Receipt {...value} />} />}
      <Panel
        title="Input"
        aside={
          <span class="muted">{decoded ? clippedName(decoded.name) : `${count(bytesOfHex(tx.input))} bytes`}</span>
        }
      >
        {decoded && <Arguments args={decoded.args} amount={amount} />}
        <details>
          <summary>{count(bytesOfHex(tx.input))} bytes</summary>
          <pre>{tx.input}</pre>
        </details>
      </Panel>
      {mined && <Traces tx={tx} feeRecipient={mined.block.miner} />}
    </>
  );
}

function To({ tx, created }: { readonly tx: Transaction; readonly created: string | null | undefined }) {
  if (tx.to !== null) return <AddressText value={tx.to} isWhole />;
  return created ? <AddressText value={created} name="new contract" isWhole /> : <>new contract</>;
}

/** The EIP of each type of transaction, by number. */
const TYPES = [
  "legacy",
  "with access list, EIP-2930",
  "with fee cap, EIP-1559",
  "with blobs, EIP-4844",
  "with delegations, EIP-7702",
];

function typeText(type: string): string {
  const name = TYPES[Number(type)];
  return name === undefined ? count(type) : `${count(type)} (${name})`;
}

function Receipt({ tx, block, receipt, receiptVerdict }: CheckedTransaction) {
  const transfers = transfersIn(receipt.logs);
  const infos = useLoaded(async () => {
    const tokens = [...new Set(transfers.map(({ token }) => token))];
    return new Map(await Promise.all(tokens.map(async (each) => [each, await tokenInfo(each)] as const)));
  }, [tx.hash]);
  const infoOf = (token: string): TokenInfo =>
    (infos.kind === "ready" && infos.value.get(token as never)) || {
      symbol: undefined,
      decimals: undefined,
    };
  return (
    <>
      <Panel title="Receipt" aside={<Mark verdict={receiptVerdict} what="receipt" />}>
        <Fields
          rows={[
            ["Status", <Status key="" status={receipt.status} />],
            ["Time", `${dateTime(block.timestamp)} (${age(block.timestamp)})`],
            ["Gas used", `${count(receipt.gasUsed)} (${percentText(receipt.gasUsed, tx.gas)} of the limit)`],
            ["Fee", feeText(receipt.gasUsed, receipt.effectiveGasPrice)],
            receipt.contractAddress !== null && [
              "Contract",
              <AddressText key="" value={receipt.contractAddress} isWhole />,
            ],
          ]}
        />
      </Panel>
      {transfers.length > 0 && (
        <Panel title="Token transfers">
          <Table
            label="Token transfers"
            head={["From", "To", "Amount", "Token"]}
            numeric={[2]}
            rows={transfers.map(({ token, from, to, value, item }) => [
              <AddressText key="from" value={from} />,
              <AddressText key="to" value={to} />,
              value === undefined ? item : amountText(value, infoOf(token)),
              <TokenText key="token" token={token} symbol={infoOf(token).symbol} />,
            ])}
          />
        </Panel>
      )}
      <Panel title={`Logs (${count(receipt.logs.length)})`} aside={<Mark verdict={receiptVerdict} what="logs" />}>
        <Logs logs={receipt.logs} />
      </Panel>
    </>
  );
}

/** Calls and state changes; a node may not serve the methods for them. */
function Traces({ tx, feeRecipient }: { tx: Transaction; feeRecipient: string }) {
  const calls = useLoaded(() => call<Frame>("debug_traceTransaction", tx.hash, { tracer: "callTracer" }), [tx.hash]);
  const changes = useLoaded(
    () =>
      call<StateDiff>("debug_traceTransaction", tx.hash, {
        tracer: "prestateTracer",
        tracerConfig: { diffMode: true },
      }),
    [tx.hash],
  );
  const root = loadedValue(calls);
  useContracts(root ? [...addressesIn(root)] : []);
  const amounts = useCallAmounts(root ? callsIn(root) : [], `${tx.hash} ${calls.kind}`);
  return (
    <>
      <Panel title="Calls" note="executed again by the node, not proven">
        <div class="scroll">
          <When loaded={calls} show={(frame) => <CallTree frame={frame} total={frame.gasUsed} amounts={amounts} />} />
        </div>
      </Panel>
      <LoadedPanel
        title="State changes"
        note="executed again by the node, not proven"
        loaded={changes}
        show={(diff) => <StateChanges diff={diff} feeRecipient={feeRecipient} />}
      />
    </>
  );
}
