import type { ComponentChildren } from "preact";
import type { Hash } from "../../../../base/primitives/hash.ts";
import { toQuantity } from "../../../../base/primitives/quantity.ts";
import type { IndexedValue } from "../../../../base/types/block-access-list.ts";
import { accessListOf, checkAccessList } from "../../verify/access-list.ts";
import { headerOf } from "../../verify/header.ts";
import { type Verdict, worstOf } from "../../verify/verdict.ts";
import { type CheckedBody, checkBlock, checkBody, type ShownBody, shownBody } from "../checked.ts";
import { age, bytesOfHex, count, dateTime, etherShort, gwei, percentText } from "../format.ts";
import { type Loaded, useHead, useLoaded } from "../hooks.ts";
import { Method, Receiver, Status } from "../lists.tsx";
import { AddressText, Fields, HexText, LoadedPanel, Mark, Panel, Problem, Table, When } from "../parts.tsx";
import { type Block, call } from "../rpc.ts";
import { isBlockNumber, isHash } from "../search-words.ts";
import { checkDecision, type Decision } from "../trust.ts";

async function loadBlock(id: string): Promise<Block> {
  const block = isHash(id)
    ? await call<Block | null>("eth_getBlockByHash", id, false)
    : await call<Block | null>("eth_getBlockByNumber", toQuantity(Number(id)), false);
  if (block === null) throw new Error(`There is no block ${id}.`);
  return block;
}

/** A block by number or hash: its header and transactions, with their verification. */
export function BlockPage({ id }: { readonly id: string }) {
  const isBlock = isHash(id) || isBlockNumber(id);
  const loaded = useLoaded(async () => (isBlock ? loadBlock(id) : undefined), [id]);
  if (!isBlock)
    return <Problem title="Block" text={`“${id.slice(0, 80)}” is neither the number nor the hash of a block.`} />;
  return <When loaded={loaded} show={(block) => block && <BlockView key={block.hash} block={block} id={id} />} />;
}

function BlockView({ block, id }: { block: Block; id: string }) {
  const asked = isHash(id) ? { hash: id.toLowerCase() as Hash } : { number: Number(id) };
  const checked = useLoaded(() => checkBlock(block, asked), [block.hash]);
  const isChecked = checked.kind === "ready";
  const body = useLoaded(async () => (isChecked ? checkBody(checked.value) : undefined), [block.hash, isChecked]);
  const decision = useLoaded(
    async () => (isChecked ? checkDecision(block, checked.value.verdict) : undefined),
    [block.hash, isChecked],
  );
  const shown = useLoaded(
    async () => (body.kind === "ready" && body.value ? shownBody(block, body.value) : undefined),
    [block.hash, body.kind === "ready" && body.value !== undefined],
  );
  const number = Number(block.number);
  const { head } = useHead();
  const headerVerdict = verdictIn(checked, (value) => value.verdict);
  return (
    <>
      <h1>
        Block {count(number)}
        <nav class="steps" aria-label="Neighbouring blocks">
          {number > 0 && <a href={`#/block/${number - 1}`}>← {count(number - 1)}</a>}
          {head !== undefined && Number(head.number) > number && (
            <a href={`#/block/${number + 1}`}>{count(number + 1)} →</a>
          )}
        </nav>
      </h1>
      <Panel title="Header" aside={<Mark verdict={headerVerdict} what="header" />}>
        <Fields
          rows={[
            ["Hash", <HexText key="" value={block.hash} isWhole />],
            ["Parent", <HexText key="" value={block.parentHash} to={`/block/${block.parentHash}`} isWhole />],
            ["Time", `${dateTime(block.timestamp)} (${age(block.timestamp)})`],
            ["Fee recipient", <AddressText key="" value={block.miner} isWhole />],
            [
              "Gas used",
              `${count(block.gasUsed)} of ${count(block.gasLimit)} (${percentText(block.gasUsed, block.gasLimit)})`,
            ],
            paidRow(shown),
            decidedRow(decision),
            block.slotNumber !== undefined && ["Slot", count(block.slotNumber)],
            block.baseFeePerGas !== undefined && ["Base fee", gwei(block.baseFeePerGas)],
            ["Size", sizeText(shown)],
            [
              "Extra data",
              <code key="">
                {block.extraData} ({bytesOfHex(block.extraData)} bytes)
              </code>,
            ],
            ["State root", <HexText key="" value={block.stateRoot} isWhole />],
            ["Transactions root", <RootText key="" root={block.transactionsRoot} body={body} of="transactions" />],
            ["Receipts root", <RootText key="" root={block.receiptsRoot} body={body} of="receiptsVerdict" />],
            block.blockAccessListHash !== undefined && [
              "Access list hash",
              <HexText key="" value={block.blockAccessListHash} isWhole />,
            ],
          ]}
        />
      </Panel>
      <LoadedPanel
        title={`Transactions (${count(block.transactions.length)})`}
        aside={DECODED}
        loaded={shown}
        show={(lines) =>
          lines === undefined ? (
            <p class="empty">Loading …</p>
          ) : (
            <Table
              label="Transactions of the block"
              head={["#", "Hash", "Method", "From", "To", "Value", "Gas used", "Status"]}
              numeric={[0, 5, 6]}
              rows={lines.rows.map(({ hash, from, to, value, input }, index) => [
                count(index),
                <HexText key="hash" value={hash} to={`/tx/${hash}`} />,
                <Method key="method" to={to} input={input} />,
                <AddressText key="from" value={from} />,
                <Receiver key="to" to={to} created={receiptsIn(body)[index]?.contractAddress} />,
                etherShort(value),
                count(lines.gasUsed[index] ?? 0),
                <Status key="status" status={receiptsIn(body)[index]?.status} />,
              ])}
            />
          )
        }
      />
      {block.blockAccessListHash !== undefined && <AccessList block={block} headerVerdict={headerVerdict} />}
    </>
  );
}

/** The block's accesses, and how often it changed each part of an account. */
function AccessList({ block, headerVerdict }: { block: Block; headerVerdict: Verdict | undefined }) {
  const loaded = useLoaded(async () => {
    const list = accessListOf(await call<unknown>("eth_getBlockAccessList", block.hash));
    return { list, verdict: checkAccessList(headerOf(block), list) };
  }, [block.hash]);
  const own = verdictIn(loaded, ({ verdict }) => verdict);
  const verdict = own && headerVerdict && worstOf([own, headerVerdict]);
  const title = loaded.kind === "ready" ? `Access list (${count(loaded.value.list.length)} accounts)` : "Access list";
  return (
    <Panel title={title} aside={<Mark verdict={verdict} what="access list" />}>
      <When
        loaded={loaded}
        show={({ list }) => (
          <Table
            label="Accounts that the block accessed"
            head={["Account", "Slots written", "Slots read", "Balance after", "Nonce after", "Code"]}
            numeric={[1, 2, 3, 4, 5]}
            rows={list.map((account) => [
              <AddressText key="address" value={account.address} />,
              count(account.storageChanges.length),
              count(account.storageReads.length),
              lastText(account.balanceChanges, etherShort),
              lastText(account.nonceChanges, count),
              account.codeChanges.length === 0 ? "" : `${count(account.codeChanges.at(-1)!.code.length)} bytes`,
            ])}
          />
        )}
      />
    </Panel>
  );
}

/** The value after the block; empty if unchanged. */
function lastText(changes: readonly IndexedValue[], textOf: (value: bigint) => string): string {
  const last = changes.at(-1);
  return last === undefined ? "" : textOf(last.value);
}

function paidRow(shown: Loaded<ShownBody | undefined>): readonly [string, string] | false {
  const paid = shown.kind === "ready" ? shown.value?.gasPaid : undefined;
  return paid !== undefined && ["Gas paid for", `${count(paid)}, execution and growth of the state together`];
}

/** The marks of the two roots also apply to the rows. */
const DECODED = <span class="muted">decoded here from their bytes</span>;

function receiptsIn(body: Loaded<CheckedBody | undefined>): CheckedBody["receipts"] {
  return (body.kind === "ready" && body.value?.receipts) || [];
}

/** Size of the header and body decoded here: nothing commits to the node's own `size`. */
function sizeText(shown: Loaded<ShownBody | undefined>): string {
  if (shown.kind === "failed") return "not known";
  const size = shown.kind === "ready" ? shown.value?.size : undefined;
  if (size !== undefined) return `${count(size)} bytes`;
  return shown.kind === "ready" && shown.value ? "not known: the node did not give all parts" : "…";
}

function decidedRow(decision: Loaded<Decision | undefined>): readonly [string, ComponentChildren] | false {
  const verdict = verdictIn(decision, (value) => value?.verdict);
  if (decision.kind === "loading" || (decision.kind === "ready" && !decision.value)) return false;
  const text = decision.kind === "ready" ? decision.value?.text : "";
  return [
    "Decided",
    <>
      {text} {verdict && <Mark verdict={verdict} what="signatures" />}
    </>,
  ];
}

function RootText(props: {
  readonly root: string;
  readonly body: Loaded<CheckedBody | undefined>;
  readonly of: "transactions" | "receiptsVerdict";
}) {
  const verdict = verdictIn(props.body, (value) => value?.[props.of]);
  return (
    <>
      <HexText value={props.root} isWhole />
      <Mark verdict={verdict} what={props.of === "transactions" ? "transactions" : "receipts"} />
    </>
  );
}

/** The verdict in a loaded value; unverified if loading failed. */
export function verdictIn<T>(loaded: Loaded<T>, verdictOf: (value: T) => Verdict | undefined): Verdict | undefined {
  if (loaded.kind === "loading") return undefined;
  if (loaded.kind === "ready") return verdictOf(loaded.value);
  return { kind: "unverified", reason: String((loaded.error as Error).message) };
}
