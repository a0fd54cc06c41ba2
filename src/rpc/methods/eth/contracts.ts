import type { KnownContract } from "../../ports/contracts.ts";
import { address, array, boolean, optional, rawJsonOf, string } from "../../transport/codec.ts";
import { InvalidParamsError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { ADDRESS, listOf, mapOf, orNull, shape } from "../json/schemas.ts";

/** Contracts of one call. */
const KNOWN_CONTRACT_LIMITS = {
  /** Addresses: a page of a list shows about fifty. Each answer contains an ABI of about 20 KB. */
  addressesMax: 100,
  /** Addresses with sources, which may be megabytes each. */
  withSourcesMax: 4,
  /** Contracts that a search returns. */
  foundMax: 20,
  /** Characters of a search term; Solidity identifiers are shorter. */
  nameCharsMax: 256,
} as const;

const TEXT = { type: "string" };
const ORIGIN = { enum: ["verified", "artifacts"] };
const KNOWN_CONTRACT = shape(
  "KnownContract",
  {
    address: ADDRESS,
    name: TEXT,
    origin: ORIGIN,
    match: { enum: ["exact", "same instructions"] },
    abi: listOf({ type: "object" }),
    sources: mapOf(TEXT),
  },
  { compilerVersion: TEXT },
);

/**
 * `eth_getKnownContracts`, of this node: name, ABI and, if requested, sources of the contracts at `addresses` in the newest state, null for
 * unknown contracts. `origin` is `verified` if the node's compiler reproduced the deployed code from the sources, `artifacts` if a file of
 * `--artifacts` has that code.
 *
 * @throws InvalidParamsError for too many addresses
 */
export const getKnownContracts = defineMethod({
  name: "eth_getKnownContracts",
  params: { addresses: array(address), withSources: optional(boolean, false) },
  example: [[SAMPLE.alice], true],
  result: rawJsonOf(listOf(orNull(KNOWN_CONTRACT))),
  async handle({ addresses, withSources }, { contracts }) {
    const { addressesMax, withSourcesMax } = KNOWN_CONTRACT_LIMITS;
    const max = withSources ? withSourcesMax : addressesMax;
    if (addresses.length > max) throw new InvalidParamsError(`at most ${max} addresses`, "addresses");
    const known = await contracts.known({ addresses, withSources });
    return JSON.stringify(known.map((contract) => (contract === undefined ? null : contractJson(contract))));
  },
});

function contractJson({ address, name, origin, match, abi, sources, compilerVersion }: KnownContract): object {
  return { address, name, origin, match, abi, sources, ...(compilerVersion !== undefined && { compilerVersion }) };
}

/**
 * `eth_findContracts`, of this node: at most twenty contracts whose name begins with `name`, ignoring case: verified contracts, and
 * deployed contracts of `--artifacts`.
 *
 * @throws InvalidParamsError for a name that is empty or too long
 */
export const findContracts = defineMethod({
  name: "eth_findContracts",
  params: { name: string },
  example: ["Token"],
  result: rawJsonOf(listOf(shape("FoundContract", { address: ADDRESS, name: TEXT, origin: ORIGIN }))),
  heavy: true,
  async handle({ name }, { contracts }) {
    const { nameCharsMax, foundMax } = KNOWN_CONTRACT_LIMITS;
    if (name === "" || name.length > nameCharsMax) {
      throw new InvalidParamsError(`a name has 1 to ${nameCharsMax} characters`, "name");
    }
    return JSON.stringify(await contracts.find({ name, countMax: foundMax }));
  },
});
