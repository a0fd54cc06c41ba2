import { useState } from "preact/hooks";
import type { AbiFunction } from "viem";
import type { Hex } from "../../../../base/primitives/hex.ts";
import type { AbiItem } from "../../../../dev/artifacts/abi.ts";
import type { CodeMatch, Sources } from "../../contracts/artifact.ts";
import { functionsOf } from "../contracts/contracts.ts";
import { clippedName, type NodeContract, useContracts } from "../contracts/known-contracts.ts";
import { contractInFiles } from "../contracts/upload.ts";
import { storeContract, type UploadedContractHere, uploadedAt } from "../contracts/uploaded.ts";
import { useDevChain } from "../dev-chain.ts";
import { bytesOfHex, count } from "../format.ts";
import { hasWallet, loadedValue, useLoaded } from "../hooks.ts";
import { AddressText, Failure, Panel, shownAddress } from "../parts.tsx";
import { callIfOpen } from "../rpc.ts";
import { FunctionForm, type Sender } from "./function-form.tsx";

const MATCHES: Readonly<Record<CodeMatch, string>> = {
  exact: "is the deployed code, byte by byte.",
  "same instructions": "has the deployed instructions and other metadata.",
  different: "is not the deployed code: the names below may be wrong.",
  "no code": "cannot be compared: there is none. The names below may be wrong.",
};

/** The node's information on the code at `address`, with sources; undefined if it has none. */
async function fromNode(address: string): Promise<NodeContract | undefined> {
  const known = await callIfOpen<(NodeContract | null)[]>("eth_getKnownContracts", [address], true);
  return known?.[0] ?? undefined;
}

/**
 * Names and sources of a contract, from the node or an upload, their match with the deployed code, and the functions to read and write.
 * @param props.implementation whose functions are called at `address`
 */
export function ContractPanel(props: {
  readonly address: string;
  readonly code: Hex;
  readonly implementation: string | undefined;
}) {
  const { address, code, implementation } = props;
  const [uploaded, setUploaded] = useState(uploadedAt(address));
  const [error, setError] = useState<unknown>();
  const [isReading, setReading] = useState(false);
  const known = useLoaded(() => fromNode(address), [address]);
  const behind = useLoaded(
    async () => (implementation === undefined ? undefined : fromNode(implementation)),
    [implementation],
  );
  const nodes = loadedValue(known);
  async function upload(files: FileList | null) {
    setReading(true);
    try {
      const { contract: found, compilerError } = await contractInFiles([...(files ?? [])], code);
      setError(compilerError);
      if (found === undefined) {
        if (compilerError === undefined) throw new Error("There is no contract in these files.");
        return;
      }
      const contract = { ...found, address: address.toLowerCase() };
      storeContract(contract);
      setUploaded(contract);
    } catch (failure) {
      setError(failure);
    } finally {
      setReading(false);
    }
  }
  const shown = uploaded ?? nodes;
  return (
    <>
      <Panel title="Contract">
        {nodes && <NodeMatch contract={nodes} />}
        {uploaded && <Matches contract={uploaded} />}
        <p class="empty">
          <label class="upload">
            Upload artifacts or a build-info of Foundry or Hardhat, standard JSON of solc, or an ABI
            <input
              type="file"
              accept=".json,application/json"
              multiple
              onChange={({ currentTarget }) => void upload(currentTarget.files)}
            />
          </label>{" "}
          They stay in this browser; sources go to the node to be compiled, where it has solc.
        </p>
        {shown === undefined && known.kind === "ready" && <HowToName address={address} />}
        <details>
          <summary>{count(bytesOfHex(code))} bytes of code</summary>
          <pre>{code.length > CODE_CHARS_MAX ? `${code.slice(0, CODE_CHARS_MAX)}…` : code}</pre>
        </details>
        {isReading && <p class="empty">Reading and compiling …</p>}
        {error !== undefined && <Failure error={error} />}
        {shown && <SourceFiles sources={shown.sources} />}
        {shown && <AbiText abi={shown.abi} />}
      </Panel>
      {implementation !== undefined && (
        <BehindPanel
          address={address}
          implementation={implementation}
          contract={uploadedAt(implementation) ?? loadedValue(behind)}
        />
      )}
      {shown && <FunctionsPanel key={shown.name} title="Functions" address={address} abi={shown.abi} />}
    </>
  );
}

/** Maximum characters of the code shown; eth_getCode returns all of it. */
const CODE_CHARS_MAX = 1_026;

/** Two ways that need no upload. */
function HowToName({ address }: { readonly address: string }) {
  const verify =
    "forge verify-contract --verifier blockscout --verifier-url " +
    `${location.origin}/api/ --rpc-url ${location.origin} ${shownAddress(address)} CONTRACT`;
  return (
    <>
      <p class="empty">
        A dev chain started with <code>--artifacts DIR</code>, Foundry’s or Hardhat’s folder of artifacts, knows its
        contracts by name. Where the node serves Etherscan’s API, this verifies the source:
      </p>
      <pre>{verify}</pre>
    </>
  );
}

/** The source of the node's information on the contract, as claimed by the node; the page does not verify it. */
function NodeMatch({ contract }: { readonly contract: NodeContract }) {
  const { name, origin, match, compilerVersion } = contract;
  if (origin === "artifacts") {
    return (
      <p class="empty" data-origin={origin}>
        <b>{clippedName(name)}</b>: the code in an artifact of this node’s project {MATCHES[match]} Its sources were not
        compiled here. As the node says.
      </p>
    );
  }
  return (
    <p class="empty" data-origin={origin}>
      <b>{clippedName(name)}</b>: what solc {compilerVersion} makes of these sources {MATCHES[match]} The node has
      compiled and compared them; upload them to compare them here.
    </p>
  );
}

/** Matches of the uploaded code, and of the code compiled from the uploaded source, with the deployed code. */
function Matches({ contract: { name, match, recompiled } }: { contract: UploadedContractHere }) {
  const classOf = (each: CodeMatch) => `empty ${each === "exact" ? "ok" : ""}`;
  return (
    <>
      {recompiled && (
        <p class={classOf(recompiled.match)} data-recompiled={recompiled.match}>
          <b>{clippedName(name)}</b>: the code that this node’s solc {recompiled.compiler} makes of the uploaded source{" "}
          {MATCHES[recompiled.match]}
        </p>
      )}
      {(match !== "no code" || recompiled === undefined) && (
        <p class={classOf(match)} data-match={match}>
          <b>{clippedName(name)}</b>: the uploaded code {MATCHES[match]}
        </p>
      )}
    </>
  );
}

function SourceFiles({ sources }: { readonly sources: Sources }) {
  const files = Object.entries(sources);
  if (files.length === 0) return null;
  return (
    <>
      <h3>Source</h3>
      {files.map(([path, text], at) => (
        <details key={path} class="source" open={at === 0}>
          <summary>{path}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
          <pre tabIndex={0}>{text.replaceAll("\r\n", "\n")}</pre>
        </details>
      ))}
    </>
  );
}

function AbiText({ abi }: { readonly abi: readonly AbiItem[] }) {
  return (
    <details>
      <summary>ABI: {abi.length} entries</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <pre tabIndex={0}>{JSON.stringify(abi, undefined, 1)}</pre>
    </details>
  );
}

/** The functions of a proxy's implementation, called at the proxy's address. */
function BehindPanel(props: {
  readonly address: string;
  readonly implementation: string;
  readonly contract: { readonly name: string; readonly abi: readonly AbiItem[] } | undefined;
}) {
  const { address, implementation, contract } = props;
  useContracts([implementation]);
  if (contract !== undefined) {
    return (
      <FunctionsPanel
        title={`Functions as proxy of ${clippedName(contract.name)}`}
        address={address}
        abi={contract.abi}
        isProxy
      />
    );
  }
  return (
    <Panel title="Functions as proxy">
      <p class="empty">
        Nothing is known of <AddressText value={implementation} />: upload its ABI on its page, and its functions can be
        called here.
      </p>
    </Panel>
  );
}

function FunctionsPanel(props: {
  readonly title: string;
  readonly address: string;
  readonly abi: readonly AbiItem[];
  readonly isProxy?: boolean;
}) {
  const { title, address, abi, isProxy = false } = props;
  const { reads, writes } = functionsOf(abi as readonly AbiFunction[]);
  const accounts = useDevChain()?.accounts ?? [];
  const [chosen, setChosen] = useState<string>();
  const senders = [...(hasWallet() ? ["wallet"] : []), ...accounts];
  const sender: Sender = chosen ?? senders[0];
  return (
    <Panel title={title}>
      <h3>{isProxy ? "Read as proxy" : "Read"}</h3>
      {reads.map((item) => (
        <FunctionForm key={signature(item)} item={item} address={address} isRead sender={undefined} />
      ))}
      <h3>{isProxy ? "Write as proxy" : "Write"}</h3>
      {senders.length === 0 && <p class="empty">No wallet: install one in this browser to send transactions.</p>}
      {accounts.length > 0 && (
        <div class="inline">
          <label>
            Send by
            <select value={sender} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
              {senders.map((each) => (
                <option key={each} value={each}>
                  {each === "wallet" ? "the wallet in this browser" : shownAddress(each)}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      {writes.map((item) => (
        <FunctionForm key={signature(item)} item={item} address={address} isRead={false} sender={sender} />
      ))}
    </Panel>
  );
}

function signature({ name, inputs }: AbiFunction): string {
  return `${name}(${inputs.map(({ type }) => type).join()})`;
}
