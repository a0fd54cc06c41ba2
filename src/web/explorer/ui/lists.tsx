import { useContracts } from "./contracts/known-contracts.ts";
import { methodName } from "./contracts/method-name.ts";
import { age, count, dateTime, etherShort, percentText } from "./format.ts";
import { AddressText, HexText, Table } from "./parts.tsx";
import type { Block, Receipt, Transaction } from "./rpc.ts";

/** A transaction of a list, with its outcome if known. */
export type ListedTransaction = {
  readonly tx: Pick<Transaction, "hash" | "from" | "to" | "value" | "input" | "blockNumber">;
  readonly receipt: Pick<Receipt, "status" | "contractAddress"> | undefined;
  /** seconds since 1970; undefined: unknown */
  readonly timestamp: string | number | undefined;
};

/** Outcome of a transaction (EIP-658). */
export function Status({ status }: { status: string | undefined }) {
  if (status === undefined) return <span class="muted">–</span>;
  return status === "0x1" ? <span class="ok">success</span> : <span class="bad">✗ failed</span>;
}

function Age({ timestamp }: { readonly timestamp: string | number | undefined }) {
  if (timestamp === undefined) return <span class="muted">–</span>;
  return <span title={dateTime(timestamp)}>{age(timestamp)}</span>;
}

/** The recipient, or the created contract. */
export function Receiver(props: { readonly to: string | null; readonly created: string | null | undefined }) {
  const { to, created } = props;
  if (to !== null) return <AddressText value={to} />;
  return created ? <AddressText value={created} name="new contract" /> : <>new contract</>;
}

/** Name of the function that a transaction calls. */
export function Method({ to, input }: { readonly to: string | null; readonly input: string }) {
  useContracts(to === null ? [] : [to]);
  return <span class="tag method">{methodName(to, input)}</span>;
}

export function TransactionTable(props: {
  readonly label: string;
  readonly rows: readonly ListedTransaction[];
  /** Omits the block column, for a list beside a list of blocks. */
  readonly isNarrow?: boolean;
}) {
  const { label, rows, isNarrow = false } = props;
  const head = ["Hash", "Method", ...(isNarrow ? [] : ["Block"]), "Age", "From", "To", "Value", "Status"];
  return (
    <Table
      label={label}
      head={head}
      numeric={[head.indexOf("Block"), head.indexOf("Value")]}
      rows={rows.map(({ tx, receipt, timestamp }) => [
        <HexText key="hash" value={tx.hash} to={`/tx/${tx.hash}`} />,
        <Method key="method" to={tx.to} input={tx.input} />,
        ...(isNarrow ? [] : [<BlockLink key="block" number={tx.blockNumber} />]),
        <Age key="age" timestamp={timestamp} />,
        <AddressText key="from" value={tx.from} />,
        <Receiver key="to" to={tx.to} created={receipt?.contractAddress} />,
        etherShort(tx.value),
        <Status key="status" status={receipt?.status} />,
      ])}
    />
  );
}

/** undefined and null: not in a block yet */
export function BlockLink({ number }: { readonly number: string | null | undefined }) {
  if (number === null || number === undefined) return <>pending</>;
  return <a href={`#/block/${Number(number)}`}>{count(number)}</a>;
}

export function BlockTable({ label, blocks }: { readonly label: string; readonly blocks: readonly Block[] }) {
  return (
    <Table
      label={label}
      head={["Number", "Age", "Transactions", "Gas used"]}
      numeric={[2, 3]}
      rows={blocks.map((block) => [
        <BlockLink key="number" number={block.number} />,
        <Age key="age" timestamp={block.timestamp} />,
        count(block.transactions.length),
        percentText(block.gasUsed, block.gasLimit),
      ])}
    />
  );
}
