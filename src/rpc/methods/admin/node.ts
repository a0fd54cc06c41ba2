import { NodeError } from "../../../base/errors.ts";
import { boolean, json, lenientInteger, optional, string } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";

/** The node cannot perform this administrative action on itself. */
export class AdminError extends NodeError {
  readonly code = "ADMIN_REFUSED";
}

/** The file name points outside the folder callers may use. */
export class FileNameError extends NodeError {
  readonly code = "ADMIN_FILE_NAME";
}

/** `admin_nodeInfo`: the node's identity, listeners and chain. */
export const nodeInfo = defineMethod({
  name: "admin_nodeInfo",
  params: {},
  result: json,
  private: true,
  handle: (_params, { node }) => node.adminInfo(),
});

/** `admin_readiness`: whether the node serves its chain and makes blocks, with the reason if it does not; same answer as `/readyz`. */
export const readiness = defineMethod({
  name: "admin_readiness",
  params: {},
  result: json,
  private: true,
  handle: (_params, { node }) => node.readiness(),
});

/** `admin_datadir`: absolute path of the node's home directory. */
export const datadir = defineMethod({
  name: "admin_datadir",
  params: {},
  result: string,
  private: true,
  handle: (_params, { node }) => node.dataDirectory(),
});

/**
 * `admin_exportChain`: writes blocks `first` to `last`, or all of them, as RLP to a new file in the home's debug folder; gzipped if the
 * name ends in `.gz`.
 *
 * @throws FileNameError, AdminError
 */
export const exportChain = defineMethod({
  name: "admin_exportChain",
  params: { file: string, first: optional(lenientInteger), last: optional(lenientInteger) },
  result: boolean,
  private: true,
  async handle({ file, first, last }, { node }) {
    if (last !== undefined && first === undefined) {
      throw new AdminError("last cannot be specified without first");
    }
    await node.exportChain({ file, first, last });
    return true;
  },
});

/**
 * `admin_importChain`: executes and appends the blocks of a file that `admin_exportChain` wrote; blocks already in the chain are skipped.
 *
 * @throws FileNameError, AdminError
 */
export const importChain = defineMethod({
  name: "admin_importChain",
  params: { file: string },
  result: boolean,
  private: true,
  async handle({ file }, { node }) {
    await node.importChain({ file });
    return true;
  },
});
