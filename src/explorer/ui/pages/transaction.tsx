import type { Hash } from "../../../primitives/hash.ts";
import { type CheckedTransaction, checkMined } from "../checked.ts";
import { contractAt, decodeCall } from "../contracts.ts";
import { age, bytesOfHex, count, dateTime, ether, feeText, gwei, percent } from "../format.ts";
import { useLoaded } from "../hooks.ts";
import { AddressText, Fields, HexText, Mark, Panel, Table, When } from "../parts.tsx";
import { call, type Transaction } from "../rpc.ts";
import { amountText, type TokenInfo, tokenInfo, transfersIn } from "../tokens.ts";
import { Arguments, CallTree, type Frame, Logs, StateChanges, type StateDiff } from "../trace-parts.tsx";
import { Status, verdictIn } from "./block.tsx";

async function loadTransaction(hash: string): Promise<Transaction> {
  const tx = await call<Transaction | null>("eth_getTransactionByHash", hash);
  if (tx === null) throw new Error(`There is no transaction ${hash}.`);
  return tx;
}

/** A transaction: what it says, what came of it, its calls, its state changes, and what of that is verified. */
export function TransactionPage({ hash }: { readonly hash: string }) {
  const loaded = useLoaded(() => loadTransaction(hash), [hash]);
  return <When loaded={loaded} show={(tx) => <TransactionView key={hash} tx={tx} hash={hash as Hash} />} />;
}

function TransactionView({ tx, hash }: { tx: Transaction; hash: Hash }) {
  const checked = useLoaded(async () => (tx.blockHash === null ? undefined : checkMined(tx, hash)), [tx.hash]);
  const mined = checked.kind === "ready" ? checked.value : undefined;
  const txVerdict =
    tx.blockHash === null
      ? ({ kind: "unverified", reason: "it is in no block yet" } as const)
      : verdictIn(checked, (value) => value?.txVerdict);
  const decoded = decodeCall(tx.to, tx.input);
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
            ["To", tx.to === null ? "new contract" : <AddressText key="" value={tx.to} isWhole />],
            ["Value", ether(tx.value)],
            ["Nonce", count(tx.nonce)],
            ["Gas limit", count(tx.gas)],
            ["Gas price", gwei(tx.gasPrice)],
            tx.maxFeePerGas !== undefined && [
              "Max fee",
              `${gwei(tx.maxFeePerGas)}, max priority fee ${gwei(tx.maxPriorityFeePerGas ?? "0x0")}`,
            ],
            ["Type", count(tx.type)],
          ]}
        />
      </Panel>
      {tx.blockHash !== null && <When loaded={checked} show={(value) => value && <Receipt {...value} />} />}
      <Panel
        title="Input"
        aside={<span class="muted">{decoded ? decoded.name : `${count(bytesOfHex(tx.input))} bytes`}</span>}
      >
        {decoded && <Arguments args={decoded.args} />}
        <details>
          <summary>{count(bytesOfHex(tx.input))} bytes</summary>
          <pre>{tx.input}</pre>
        </details>
      </Panel>
      {mined && <Traces tx={tx} />}
    </>
  );
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
            ["Gas used", `${count(receipt.gasUsed)} (${percent(receipt.gasUsed, tx.gas).toFixed(1)} % of the limit)`],
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
              <AddressText key="from" value={from.toLowerCase()} />,
              <AddressText key="to" value={to.toLowerCase()} />,
              value === undefined ? item : amountText(value, infoOf(token)),
              <HexText
                key="token"
                value={token}
                to={`/address/${token}`}
                name={contractAt(token)?.name ?? infoOf(token).symbol}
              />,
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

/** Calls and state changes; a node may keep the methods for them closed. */
function Traces({ tx }: { tx: Transaction }) {
  const calls = useLoaded(() => call<Frame>("debug_traceTransaction", tx.hash, { tracer: "callTracer" }), [tx.hash]);
  const changes = useLoaded(
    () =>
      call<StateDiff>("debug_traceTransaction", tx.hash, {
        tracer: "prestateTracer",
        tracerConfig: { diffMode: true },
      }),
    [tx.hash],
  );
  return (
    <>
      <Panel title="Calls" aside={<span class="muted">executed again by the node, not proven</span>}>
        <div class="scroll">
          <When loaded={calls} show={(frame) => <CallTree frame={frame} total={frame.gasUsed} />} />
        </div>
      </Panel>
      <Panel title="State changes" aside={<span class="muted">executed again by the node, not proven</span>}>
        <When loaded={changes} show={(diff) => <StateChanges diff={diff} />} />
      </Panel>
    </>
  );
}
