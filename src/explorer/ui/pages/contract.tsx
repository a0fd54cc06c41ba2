import { useState } from "preact/hooks";
import type { AbiFunction } from "viem";
import type { Hex } from "../../../primitives/hex.ts";
import type { CodeMatch } from "../../contracts/artifact.ts";
import { contractAt, functionsOf, type KnownContract, storeContract } from "../contracts.ts";
import { hasWallet } from "../hooks.ts";
import { Failure, Panel } from "../parts.tsx";
import { contractInFiles } from "../upload.ts";
import { FunctionForm } from "./function-form.tsx";

const MATCHES: Readonly<Record<CodeMatch, string>> = {
  exact: "is the deployed code, byte by byte.",
  "same instructions": "has the deployed instructions and other metadata.",
  different: "is not the deployed code: the names below may be wrong.",
  "no code": "cannot be compared: there is none. The names below may be wrong.",
};

/** ABI by upload, comparison of the code, and the functions to read and write. */
export function ContractPanel({ address, code }: { readonly address: string; readonly code: Hex }) {
  const [contract, setContract] = useState(contractAt(address));
  const [error, setError] = useState<unknown>();
  const [isReading, setReading] = useState(false);
  async function upload(files: FileList | null) {
    setReading(true);
    try {
      const { contract: found, compilerError } = await contractInFiles([...(files ?? [])], code);
      setError(compilerError);
      if (found === undefined) {
        if (compilerError === undefined) throw new Error("There is no contract in these files.");
        return;
      }
      const known = { ...found, address: address.toLowerCase() };
      storeContract(known);
      setContract(known);
    } catch (failure) {
      setError(failure);
    } finally {
      setReading(false);
    }
  }
  return (
    <Panel title="Contract">
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
      {isReading && <p class="empty">Reading and compiling …</p>}
      {error !== undefined && <Failure error={error} />}
      {contract && (
        <>
          <Matches contract={contract} />
          <SourceFiles sources={contract.sources} />
          <Functions key={contract.name} contract={contract} />
        </>
      )}
    </Panel>
  );
}

/** How the uploaded code, and the code made of the uploaded source, relate to the deployed code. */
function Matches({ contract: { name, match, recompiled } }: { contract: KnownContract }) {
  const classOf = (each: CodeMatch) => `empty ${each === "exact" ? "ok" : ""}`;
  return (
    <>
      {recompiled && (
        <p class={classOf(recompiled.match)} data-recompiled={recompiled.match}>
          <b>{name}</b>: the code that this node's solc {recompiled.compiler} makes of the uploaded source{" "}
          {MATCHES[recompiled.match]}
        </p>
      )}
      {(match !== "no code" || recompiled === undefined) && (
        <p class={classOf(match)} data-match={match}>
          <b>{name}</b>: the uploaded code {MATCHES[match]}
        </p>
      )}
    </>
  );
}

function SourceFiles({ sources }: Pick<KnownContract, "sources">) {
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

function Functions({ contract }: { contract: KnownContract }) {
  const { reads, writes } = functionsOf(contract.abi as readonly AbiFunction[]);
  return (
    <>
      <h3>Read</h3>
      {reads.map((item) => (
        <FunctionForm key={signature(item)} item={item} address={contract.address} isRead />
      ))}
      <h3>Write</h3>
      {!hasWallet() && <p class="empty">No wallet: install one in this browser to send transactions.</p>}
      {writes.map((item) => (
        <FunctionForm key={signature(item)} item={item} address={contract.address} isRead={false} />
      ))}
    </>
  );
}

function signature({ name, inputs }: AbiFunction): string {
  return `${name}(${inputs.map(({ type }) => type).join()})`;
}
