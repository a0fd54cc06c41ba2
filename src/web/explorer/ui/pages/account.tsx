import type { Address } from "../../../../base/primitives/address.ts";
import type { Verdict } from "../../verify/verdict.ts";
import { type CheckedAccount, checkAccount, checkBlock } from "../checked.ts";
import { contractAt } from "../contracts/contracts.ts";
import { clippedName, useContracts } from "../contracts/known-contracts.ts";
import { bytesOfHex, count, counted, ether } from "../format.ts";
import { loadedValue, useLoaded } from "../hooks.ts";
import { AddressText, Fields, HexText, Mark, Panel, Problem, shownAddress, Tabs, When } from "../parts.tsx";
import { ProofView } from "../proof-view.tsx";
import { type Implementation, implementationOf } from "../proxy.ts";
import { type Block, call, callIfOpen } from "../rpc.ts";
import { isAddress } from "../search-words.ts";
import { tokenFacts } from "../tokens/token-facts.ts";
import { EventsPanel, HistoryPanel, HoldingsPanel } from "./account-history.tsx";
import { ContractPanel } from "./contract.tsx";
import { StoragePanel } from "./storage.tsx";

type LoadedAccount = { readonly checked: CheckedAccount; readonly implementation: Implementation | undefined };

async function loadAccount(address: Address): Promise<LoadedAccount> {
  const block = await call<Block>("eth_getBlockByNumber", "latest", false);
  const checked = await checkAccount(address, await checkBlock(block));
  // Failures are ignored: the account is worth showing without its implementation.
  const implementation = await implementationOf(checked, address).catch(() => undefined);
  return { checked, implementation };
}

/** An account with its proof, and tabs for its history, its tokens, and its contract if it has code. */
export function AccountPage({ address, tab }: { readonly address: string; readonly tab: string }) {
  if (!isAddress(address)) {
    const text = `“${address.slice(0, 80)}” is not an address: that is 0x and 40 hex digits.`;
    return <Problem title="Address" text={text} />;
  }
  return <AccountView address={address.toLowerCase() as Address} tab={tab} />;
}

function AccountView({ address, tab }: { readonly address: Address; readonly tab: string }) {
  const loaded = useLoaded(() => loadAccount(address), [address]);
  const implementation = loaded.kind === "ready" ? loaded.value.implementation : undefined;
  useContracts(implementation?.address === undefined ? [address] : [address, implementation.address]);
  const name = contractAt(address)?.name;
  return (
    <>
      <h1>{name === undefined ? "Address" : clippedName(name)}</h1>
      <p class="subject">
        <HexText value={shownAddress(address)} isWhole />
      </p>
      <When
        loaded={loaded}
        show={(value) => (
          <>
            <AccountPanel address={address} account={value} />
            <AccountTabs address={address} tab={tab} account={value} />
          </>
        )}
      />
    </>
  );
}

function AccountTabs(props: { readonly address: Address; readonly tab: string; readonly account: LoadedAccount }) {
  const { address, tab, account } = props;
  const { checked, implementation } = account;
  const hasCode = checked.code.value !== "0x";
  const route = `/address/${address}`;
  const tabs = [
    [route, "Transactions"],
    [`${route}/tokens`, "Tokens"],
    ...(hasCode ? [[`${route}/contract`, "Contract"] as const] : []),
    [`${route}/events`, "Events"],
    ...(hasCode ? [[`${route}/storage`, "Storage"] as const] : []),
  ] as const;
  const open = tab === "" ? route : `${route}/${tab}`;
  return (
    <>
      <Tabs label="Parts of the account" tabs={tabs} open={open} />
      {tab === "" && <HistoryPanel address={address} />}
      {tab === "tokens" && <HoldingsPanel address={address} />}
      {tab === "events" && <EventsPanel address={address} />}
      {tab === "contract" && hasCode && (
        <ContractPanel address={address} code={checked.code.value} implementation={implementation?.address} />
      )}
      {tab === "storage" && hasCode && <StoragePanel address={address} checked={checked} />}
    </>
  );
}

function factOf(text: string, verdict: Verdict, what: string) {
  return (
    <span class="fact">
      {text} <Mark verdict={verdict} what={what} />
    </span>
  );
}

function AccountPanel({ address, account }: { readonly address: Address; readonly account: LoadedAccount }) {
  const { checked, implementation } = account;
  const { balance, nonce, code, codeHash, storageRoot, steps, elapsedMs } = checked;
  const { number } = checked.checked.block;
  const hasCode = code.value !== "0x";
  return (
    <Panel
      title="Account"
      aside={
        <span class="muted">
          after block <a href={`#/block/${Number(number)}`}>{count(number)}</a>
        </span>
      }
    >
      <Fields
        rows={[
          ["Balance", factOf(ether(balance.value), balance.verdict, "balance")],
          ["Nonce", factOf(count(nonce.value), nonce.verdict, "nonce")],
          ["Code", factOf(hasCode ? `${count(bytesOfHex(code.value))} bytes` : "none", code.verdict, "code")],
          implementation !== undefined && ["Runs the code of", <ImplementationText key="" {...implementation} />],
          hasCode && ["Code hash", <HexText key="" value={codeHash} isWhole />],
          storageRoot !== undefined && ["Storage root", <HexText key="" value={storageRoot} isWhole />],
        ]}
      />
      {hasCode && <Origin address={address} />}
      {steps.length > 0 && (
        <>
          <ProofView label="Proof from the state root to the account" steps={steps} />
          <p class="empty" id="elapsed" data-ms={elapsedMs}>
            Proof of {counted(steps.length, "node")} checked in {elapsedMs.toFixed(1)} ms.
          </p>
        </>
      )}
    </Panel>
  );
}

function ImplementationText({ address, kind, verdict, beacon }: Implementation) {
  return (
    <span class="fact" data-implementation={address}>
      {address === undefined ? "none, says the node" : <AddressText value={address} isWhole />}{" "}
      <span class="muted">{kind}</span>
      <Mark verdict={verdict} what="implementation" />
      {beacon !== undefined && (
        <>
          {" "}
          beacon <AddressText value={beacon} />
        </>
      )}
    </span>
  );
}

type Creation = { readonly hash: string; readonly creator: string };

/** Who created a contract, and whether it is a token; both as claimed by the node. */
function Origin({ address }: { readonly address: Address }) {
  const creation = useLoaded(() => callIfOpen<Creation | null>("ots_getContractCreator", address), [address]);
  const token = useLoaded(() => tokenFacts(address), [address]);
  const created = loadedValue(creation);
  const facts = loadedValue(token);
  if (!created && facts === undefined) return null;
  return (
    <Fields
      rows={[
        !!created && [
          "Created by",
          <span key="">
            <AddressText value={created.creator} /> in <HexText value={created.hash} to={`/tx/${created.hash}`} />{" "}
            <span class="muted">as the node says</span>
          </span>,
        ],
        facts !== undefined && [
          "Token",
          <a key="" href={`#/token/${address}`}>
            {facts.standard} {clippedName(facts.symbol ?? facts.name ?? "without a name")}
          </a>,
        ],
      ]}
    />
  );
}
