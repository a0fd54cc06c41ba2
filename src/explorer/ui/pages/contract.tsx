import { useState } from "preact/hooks";
import type { AbiFunction } from "viem";
import { type Hex, hexToBytes } from "../../../primitives/hex.ts";
import { contractsIn } from "../../contracts/artifact.ts";
import { type CodeMatch, compareCode } from "../../contracts/compare-code.ts";
import { decodeResult, encodeCall, functionsOf } from "../abi.ts";
import { contractAt, type KnownContract, storeContract } from "../abi-store.ts";
import { Failure, Panel } from "../parts.tsx";
import { call } from "../rpc.ts";
import { hasWallet, sendByWallet } from "../wallet.ts";

const MATCHES: Readonly<Record<CodeMatch, string>> = {
  exact: "The uploaded code is the deployed code, byte by byte.",
  "same instructions": "The uploaded code has the same instructions and other metadata.",
  different: "The uploaded code is not the deployed code: the names below may be wrong.",
  "no code": "The upload has no code to compare: the names below may be wrong.",
};

/** ABI by upload, comparison of the code, and the functions to read and write. */
export function ContractPanel({ address, code }: { readonly address: string; readonly code: Hex }) {
  const [contract, setContract] = useState(contractAt(address));
  const [error, setError] = useState<unknown>();
  async function upload(files: FileList | null) {
    try {
      const found = await bestMatch([...(files ?? [])], code);
      if (found === undefined) throw new Error("There is no contract in these files.");
      const known = { ...found, address: address.toLowerCase() };
      storeContract(known);
      setContract(known);
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
  }
  return (
    <Panel title="Contract">
      <p class="empty">
        <label class="upload">
          Upload artifacts of Foundry or Hardhat, solc's standard JSON output, or an ABI
          <input
            type="file"
            accept=".json,application/json"
            multiple
            onChange={({ currentTarget }) => void upload(currentTarget.files)}
          />
        </label>{" "}
        They stay in this browser.
      </p>
      {error !== undefined && <Failure error={error} />}
      {contract && (
        <>
          <p class={`empty ${contract.match === "exact" ? "ok" : ""}`} data-match={contract.match}>
            <b>{contract.name}</b>: {MATCHES[contract.match]}
          </p>
          <Functions key={contract.name} contract={contract} />
        </>
      )}
    </Panel>
  );
}

const ORDER: readonly CodeMatch[] = ["exact", "same instructions", "no code", "different"];

/** The contract in `files` whose code is nearest to `code`. */
async function bestMatch(
  files: readonly File[],
  code: Hex,
): Promise<Omit<KnownContract, "address"> | undefined> {
  const deployed = hexToBytes(code);
  const contracts = (
    await Promise.all(files.map(async (file) => contractsIn(await file.text(), file.name)))
  ).flat();
  return contracts
    .map(({ name, abi, runtime }) => ({ name, abi, match: compareCode(deployed, runtime) }))
    .sort((a, b) => ORDER.indexOf(a.match) - ORDER.indexOf(b.match))[0];
}

function Functions({ contract }: { contract: KnownContract }) {
  const { reads, writes } = functionsOf(contract.abi as readonly AbiFunction[]);
  return (
    <>
      <h3>Read</h3>
      {reads.map((item) => (
        <FunctionForm key={signature(item)} item={item} address={contract.address} isRead />
      ))}
      <h3>Write</h3>
      {!hasWallet() && (
        <p class="empty">No wallet: install one in this browser to send transactions.</p>
      )}
      {writes.map((item) => (
        <FunctionForm key={signature(item)} item={item} address={contract.address} isRead={false} />
      ))}
    </>
  );
}

function signature({ name, inputs }: AbiFunction): string {
  return `${name}(${inputs.map(({ type }) => type).join()})`;
}

function FunctionForm(props: { item: AbiFunction; address: string; isRead: boolean }) {
  const { item, address, isRead } = props;
  const [typed, setTyped] = useState<readonly string[]>(item.inputs.map(() => ""));
  const [value, setValue] = useState("");
  const [result, setResult] = useState<string>();
  const [error, setError] = useState<unknown>();
  async function run(event: Event) {
    event.preventDefault();
    try {
      const data = encodeCall(item, typed);
      setResult(
        isRead
          ? decodeResult(item, await call<Hex>("eth_call", { to: address, data }, "latest"))
          : await sendByWallet({ to: address, data, value: BigInt(value || "0") }),
      );
      setError(undefined);
    } catch (failure) {
      setError(failure);
    }
  }
  return (
    <form class="function" onSubmit={(event) => void run(event)}>
      <b>{item.name}</b>
      {item.inputs.map((input, at) => (
        <label key={`${at} ${input.name}`}>
          {input.name || `argument ${at}`} <span class="muted">{input.type}</span>
          <input
            value={typed[at]}
            onInput={({ currentTarget }) => setTyped(typed.with(at, currentTarget.value))}
          />
        </label>
      ))}
      {item.stateMutability === "payable" && (
        <label>
          value <span class="muted">wei</span>
          <input value={value} onInput={({ currentTarget }) => setValue(currentTarget.value)} />
        </label>
      )}
      <button type="submit" disabled={!isRead && !hasWallet()}>
        {isRead ? "Read" : "Send"}
      </button>
      {result !== undefined && <output>{result}</output>}
      {error !== undefined && <Failure error={error} />}
    </form>
  );
}
