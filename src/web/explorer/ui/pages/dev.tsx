import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { toQuantity } from "../../../../base/primitives/quantity.ts";
import { FIRST_ADDRESSES, FIRST_KEYS } from "../../../../dev/first-dev-keys.ts";
import type { PageMethod } from "../../page-methods.ts";
import { type DevChain, devChain } from "../dev-chain.ts";
import { count, dateTime, ether } from "../format.ts";
import { useHead, useLoaded } from "../hooks.ts";
import { AddressText, Copy, Failure, Fields, Panel, shownAddress, Table, When } from "../parts.tsx";
import { type Block, call, callIfOpen } from "../rpc.ts";
import { isAddress } from "../search-words.ts";
import { readStored, writeStored } from "../stored.ts";

/** Manual control of a dev chain. */
export function DevPage() {
  const loaded = useLoaded(devChain, []);
  return (
    <>
      <h1>Dev chain</h1>
      <When
        loaded={loaded}
        show={(chain) =>
          chain === undefined ? (
            <p class="empty">This node does not run a dev chain, or it is not the node that serves this page.</p>
          ) : (
            <DevView chain={chain} />
          )
        }
      />
    </>
  );
}

function DevView({ chain }: { readonly chain: DevChain }) {
  const { head } = useHead();
  const [version, setVersion] = useState(0);
  const changed = () => setVersion((last) => last + 1);
  return (
    <>
      <ChainPanel chainId={chain.chainId} head={head} version={version} />
      <div class="columns even">
        <BlocksPanel changed={changed} version={version} />
        <SnapshotsPanel changed={changed} />
      </div>
      <div class="columns even">
        <FaucetPanel changed={changed} first={chain.accounts[0] ?? ""} />
        <ImpersonationPanel changed={changed} />
      </div>
      <AccountsPanel accounts={chain.accounts} version={`${version} ${head?.hash}`} />
    </>
  );
}

function ChainPanel(props: { readonly chainId: number; readonly head: Block | undefined; readonly version: number }) {
  const { chainId, head, version } = props;
  const client = useLoaded(() => callIfOpen<string>("web3_clientVersion"), [version]);
  return (
    <Panel title="Chain">
      <Fields
        rows={[
          ["Chain id", String(chainId)],
          ["RPC URL", <Copied key="" text={location.origin} />],
          ["Client", client.kind === "ready" ? (client.value ?? "–") : "…"],
          ["Newest block", head === undefined ? "…" : `${count(head.number)}, ${dateTime(head.timestamp)}`],
        ]}
      />
    </Panel>
  );
}

function Copied({ text }: { readonly text: string }) {
  return (
    <span class="hex whole">
      {text} <Copy text={text} />
    </span>
  );
}

/** `run` makes an event handler of an action that may fail; `outcome` is the last result. */
function useAction(changed: () => void) {
  const [outcome, setOutcome] = useState<ComponentChildren>();
  async function start(work: () => Promise<ComponentChildren>) {
    try {
      setOutcome(<p class="empty ok">{await work()}</p>);
      changed();
    } catch (error) {
      setOutcome(<Failure error={error} />);
    }
  }
  const run = (work: () => Promise<ComponentChildren>) => (event: Event) => {
    event.preventDefault();
    void start(work);
  };
  return { outcome, run };
}

function Field(props: {
  readonly label: string;
  readonly value: string;
  readonly set: (value: string) => void;
  /** As wide as an address. */
  readonly isWide?: boolean;
}) {
  const { label, value, set, isWide = false } = props;
  return (
    <label class={isWide ? "wide" : undefined}>
      {label}
      <input value={value} spellcheck={false} onInput={({ currentTarget }) => set(currentTarget.value)} />
    </label>
  );
}

/** @throws Error with a text for the reader */
function numberOf(text: string, what: string): number {
  const value = Number(text.trim());
  if (text.trim() !== "" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${what} is a whole number.`);
}

function BlocksPanel({ changed, version }: { readonly changed: () => void; readonly version: number }) {
  const [blocks, setBlocks] = useState("1");
  const [seconds, setSeconds] = useState("3600");
  const automine = useLoaded(() => call<boolean>("anvil_getAutomine"), [version]);
  const isOn = automine.kind === "ready" && automine.value;
  const { outcome, run } = useAction(changed);
  return (
    <Panel title="Blocks and time">
      <form
        class="inline"
        onSubmit={run(async () => {
          const number = numberOf(blocks, "The number of blocks");
          await call("anvil_mine", toQuantity(number));
          return `${count(number)} mined.`;
        })}
      >
        <Field label="Blocks" value={blocks} set={setBlocks} />
        <button type="submit">Mine</button>
      </form>
      <form
        class="inline"
        onSubmit={run(async () => {
          const by = numberOf(seconds, "The number of seconds");
          await call("evm_increaseTime", toQuantity(by));
          await call("evm_mine");
          return `${count(by)} seconds later; a block was mined.`;
        })}
      >
        <Field label="Seconds to move the time by" value={seconds} set={setSeconds} />
        <button type="submit">Move</button>
      </form>
      <div class="inline">
        <button
          type="button"
          disabled={automine.kind !== "ready"}
          onClick={run(async () => {
            await call("evm_setAutomine", !isOn);
            return isOn ? "Transactions wait until a block is mined." : "Each transaction is mined at once.";
          })}
        >
          {isOn ? "Switch automine off" : "Switch automine on"}
        </button>
      </div>
      {outcome}
    </Panel>
  );
}

const SNAPSHOTS = "snapshots";

function SnapshotsPanel({ changed }: { readonly changed: () => void }) {
  const [ids, setIds] = useState<readonly string[]>(readStored<string[]>(SNAPSHOTS) ?? []);
  const { outcome, run } = useAction(changed);
  function store(next: readonly string[]) {
    setIds(next);
    writeStored(SNAPSHOTS, next);
  }
  return (
    <Panel title="Snapshots">
      <div class="inline">
        <button
          type="button"
          onClick={run(async () => {
            const id = await call<string>("evm_snapshot");
            store([...ids, id]);
            return `Snapshot ${id} taken.`;
          })}
        >
          Take a snapshot
        </button>
      </div>
      {ids.map((id, at) => (
        <div class="inline" key={id}>
          <span>Snapshot {id}</span>
          <button
            type="button"
            onClick={run(async () => {
              const isReverted = await call<boolean>("evm_revert", id);
              // The first revert to a snapshot ends it and all later ones.
              store(ids.slice(0, at));
              if (!isReverted) throw new Error(`The node does not have snapshot ${id} any more.`);
              return `The chain is as it was at snapshot ${id}.`;
            })}
          >
            Revert
          </button>
        </div>
      ))}
      {ids.length === 0 && <p class="empty">No snapshots were taken on this page.</p>}
      {outcome}
    </Panel>
  );
}

const WEI_DIGITS = 18;

/** @throws Error for an invalid amount of ether */
function weiOf(text: string): bigint {
  const match = /^(\d{1,20})(?:\.(\d{1,18}))?$/.exec(text.trim());
  if (match === null) throw new Error("The amount is a number of ether, such as 1.5.");
  return BigInt(match[1]! + (match[2] ?? "").padEnd(WEI_DIGITS, "0"));
}

/** @throws Error for an invalid address */
function addressOf(text: string): string {
  const word = text.trim();
  if (isAddress(word)) return word.toLowerCase();
  throw new Error("An address is 0x and 40 hex digits.");
}

function FaucetPanel({ changed, first }: { readonly changed: () => void; readonly first: string }) {
  const [address, setAddress] = useState(shownAddress(first));
  const [amount, setAmount] = useState("100");
  const { outcome, run } = useAction(changed);
  return (
    <Panel title="Faucet">
      <form
        class="inline"
        onSubmit={run(async () => {
          const wei = weiOf(amount);
          await call("anvil_addBalance", addressOf(address), toQuantity(wei));
          return `${ether(wei)} added.`;
        })}
      >
        <Field label="Address" value={address} set={setAddress} isWide />
        <Field label="Ether" value={amount} set={setAmount} />
        <button type="submit">Give</button>
      </form>
      {outcome}
    </Panel>
  );
}

function ImpersonationPanel({ changed }: { readonly changed: () => void }) {
  const [address, setAddress] = useState("");
  const { outcome, run } = useAction(changed);
  const set = (method: PageMethod, text: string) =>
    run(async () => {
      await call(method, addressOf(address));
      return text;
    });
  return (
    <Panel title="Impersonation">
      <form
        class="inline"
        onSubmit={set("anvil_impersonateAccount", "The node sends for this address without its key.")}
      >
        <Field label="Address of an account or a contract" value={address} set={setAddress} isWide />
        <button type="submit">Impersonate</button>
        <button
          type="button"
          onClick={set("anvil_stopImpersonatingAccount", "The node does not send for this address any more.")}
        >
          Stop
        </button>
      </form>
      {outcome}
    </Panel>
  );
}

/** Only keys of the public mnemonic, which a dev chain's banner prints too. */
const KEYS = new Map(FIRST_ADDRESSES.map((address, i) => [address as string, FIRST_KEYS[i]!]));

function AccountsPanel({ accounts, version }: { readonly accounts: readonly string[]; readonly version: string }) {
  const balances = useLoaded(
    () =>
      Promise.all(
        accounts.map(async (address) => ({
          balance: await call<string>("eth_getBalance", address, "latest"),
          nonce: await call<string>("eth_getTransactionCount", address, "latest"),
        })),
      ),
    [accounts.join(), version],
  );
  const facts = balances.kind === "ready" ? balances.value : [];
  return (
    <Panel title={`Accounts (${accounts.length})`} note="unlocked in the node; the keys are public">
      <Table
        label="Accounts"
        head={["#", "Address", "Balance", "Nonce", "Private key"]}
        numeric={[0, 2, 3]}
        rows={accounts.map((address, i) => [
          String(i),
          <AddressText key="" value={address} isWhole />,
          facts[i] === undefined ? "…" : ether(facts[i].balance, 4),
          facts[i] === undefined ? "…" : count(facts[i].nonce),
          KEYS.has(address.toLowerCase()) ? <Key key="" text={KEYS.get(address.toLowerCase())!} /> : "–",
        ])}
      />
    </Panel>
  );
}

/** Hidden until requested, so that screenshots of the page do not contain it. */
function Key({ text }: { readonly text: string }) {
  const [isShown, setShown] = useState(false);
  if (isShown) return <Copied text={text} />;
  return (
    <button type="button" onClick={() => setShown(true)}>
      Show key
    </button>
  );
}
