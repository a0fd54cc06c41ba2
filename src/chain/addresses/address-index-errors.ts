import { NodeError } from "../../errors.ts";

/** Searches by address need an index that this node does not build. */
export class AddressIndexOffError extends NodeError {
  readonly code = "ADDRESS_INDEX_OFF";
  constructor() {
    super("no index of addresses: set index.addresses = true");
  }
}

/** The index of addresses is not complete yet. */
export class AddressIndexBuildingError extends NodeError {
  readonly code = "ADDRESS_INDEX_BUILDING";
  constructor(details: { readonly indexedBlocks: number; readonly blocks: number }) {
    const { indexedBlocks, blocks } = details;
    super(`index of addresses is being built: ${indexedBlocks} of ${blocks} blocks`, details);
  }
}

/** Building the index failed; the log of the node says why. */
export class AddressIndexFailedError extends NodeError {
  readonly code = "STORE_ADDRESS_INDEX";
  constructor(options: { readonly cause: unknown }) {
    super("index of addresses could not be built", {}, options);
  }
}
