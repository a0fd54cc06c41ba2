import type { Address } from "../../../base/primitives/address.ts";
import type { Hex } from "../../../base/primitives/hex.ts";
import { isJsonObject } from "../../../base/primitives/shape.ts";
import type { SolcInput } from "../../../dev/artifacts/parse-artifact.ts";
import type { VerificationRequest } from "../../../rpc/ports/contracts.ts";
import { scanJson } from "../../../rpc/transport/dispatch/json-scan.ts";
import { SERVER_LIMITS } from "../../../rpc/transport/limits.ts";

/** Requests to Etherscan's API, which anyone who can reach the port may send. */
export const ETHERSCAN_API_LIMITS = {
  /** Size of a body: the largest sources that are stored, percent-encoded. */
  bodyBytesMax: 12 * 2 ** 20,
  /** Parameters; a verification has 15. */
  parametersMax: 40,
  /** Concurrent requests; each may hold a whole body. */
  requestsMax: 8,
  /** Time to receive a body. */
  bodyMs: 30_000,
  /** Contracts of one `getcontractcreation` request, as on Etherscan. */
  creationsMax: 5,
  /** Transactions up to the end of a `txlist` page; the node reads each of them. */
  transactionsMax: 1000,
  /** Size of a `txlist` answer, whose rows contain calldata; as for a batch. */
  answerBytesMax: 25_000_000,
} as const;

/** An invalid request; the error's text becomes the answer's result. */
export class ApiParameterError extends Error {}

/** Parameters of a request: the query's, then the form's. */
export class Parameters {
  readonly #values = new Map<string, string>();

  /** @throws ApiParameterError for too many parameters, or two values of one */
  constructor(...texts: readonly string[]) {
    const { parametersMax } = ETHERSCAN_API_LIMITS;
    for (const text of texts) {
      // Counted before parsing: millions of equal ones would take a gigabyte.
      if (text.split("&", parametersMax + 1).length > parametersMax) throw new ApiParameterError("too many parameters");
      for (const [name, value] of new URLSearchParams(text)) {
        const key = name.toLowerCase();
        const known = this.#values.get(key);
        if (known !== undefined && known !== value) throw new ApiParameterError(`two values of ${key.slice(0, 64)}`);
        this.#values.set(key, value);
      }
    }
  }

  /** undefined if it is missing or empty */
  find(name: string): string | undefined {
    return this.#values.get(name.toLowerCase()) || undefined;
  }

  /** @throws ApiParameterError if it is missing */
  text(name: string): string {
    const value = this.find(name);
    if (value === undefined) throw new ApiParameterError(`Missing parameter ${name}`);
    return value;
  }

  address(name: string): Address {
    return addressOf(this.text(name));
  }

  /** A whole number, capped at `max`. */
  integer(name: string, fallback: number, max: number): number {
    const value = this.find(name);
    if (value === undefined) return fallback;
    if (!/^\d{1,20}$/.test(value)) throw new ApiParameterError(`Invalid ${name}: expected a number`);
    return Math.min(max, Number(value));
  }
}

/** @throws ApiParameterError */
export function addressOf(text: string): Address {
  if (!/^0x[0-9a-f]{40}$/i.test(text)) throw new ApiParameterError("Invalid Address format");
  return text.toLowerCase() as Address;
}

/** Parameters of `verifysourcecode`. The misspelt name is Etherscan's. @throws ApiParameterError */
export function verificationOf(parameters: Parameters): VerificationRequest {
  const format = parameters.find("codeformat") ?? "solidity-single-file";
  const contract = parameters.text("contractname");
  const input = format === "solidity-single-file" ? singleFile(parameters) : standardJson(parameters, format);
  const argumentsText = parameters.find("constructorArguements") ?? parameters.find("constructorArguments");
  return {
    address: parameters.address("contractaddress"),
    input,
    contract,
    compilerVersion: parameters.text("compilerversion"),
    constructorArguments: argumentsText === undefined ? undefined : dataOf(argumentsText),
  };
}

function standardJson(parameters: Parameters, format: string): SolcInput {
  if (format !== "solidity-standard-json-input") {
    throw new ApiParameterError(`codeformat ${format.slice(0, 64)} is not supported; use solidity-standard-json-input`);
  }
  const text = parameters.text("sourceCode");
  try {
    scanJson(Buffer.from(text), SERVER_LIMITS);
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value as SolcInput;
  } catch {
    // Not JSON, or nested deeper than any compiler input.
  }
  throw new ApiParameterError("sourceCode is not standard JSON input");
}

/** Standard JSON of a flattened source, with Etherscan's defaults for settings without a parameter. */
function singleFile(parameters: Parameters): SolcInput {
  const name = parameters.text("contractname").split(":").at(-1)!;
  const evmVersion = parameters.find("evmversion");
  const runs = parameters.integer("runs", 200, Number.MAX_SAFE_INTEGER);
  const optimizer = { enabled: parameters.find("optimizationUsed") === "1", runs };
  const hasVersion = evmVersion !== undefined && evmVersion.toLowerCase() !== "default";
  return {
    language: "Solidity",
    sources: { [fileOf(parameters, name)]: { content: parameters.text("sourceCode") } },
    settings: { optimizer, ...(hasVersion && { evmVersion }) },
  };
}

function fileOf(parameters: Parameters, name: string): string {
  const contract = parameters.text("contractname");
  return contract.includes(":") ? contract.slice(0, contract.lastIndexOf(":")) : `${name}.sol`;
}

function dataOf(text: string): Hex {
  const digits = text.replace(/^0x/i, "").toLowerCase();
  if (!/^(?:[0-9a-f]{2})*$/.test(digits)) throw new ApiParameterError("constructorArguments are not hex");
  return `0x${digits}`;
}
