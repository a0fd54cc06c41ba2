import { defineMethod } from "../dispatch/method.ts";
import { boolean, optional, string } from "../params/codec.ts";
import { lenientInteger } from "../params/lenient-integer.ts";
import { AdminError } from "./errors.ts";
import type { NodeAdmin } from "./port.ts";

type Modules = { readonly node: Pick<NodeAdmin, "exportChain" | "importChain"> };

/**
 * `admin_exportChain`: writes blocks `first` to `last`, or all of them, as RLP to a new file of the home's debug folder; gzipped when its name
 * ends in `.gz`.
 *
 * @throws FileNameError, AdminError
 */
export const exportChain = defineMethod({
  name: "admin_exportChain",
  params: { file: string, first: optional(lenientInteger), last: optional(lenientInteger) },
  result: boolean,
  private: true,
  async handle({ file, first, last }, { node }: Modules) {
    if (last !== undefined && first === undefined) {
      throw new AdminError("last cannot be specified without first");
    }
    await node.exportChain(file, first, last);
    return true;
  },
});

/**
 * `admin_importChain`: executes and appends the blocks of such a file; those the chain has already are skipped.
 *
 * @throws FileNameError, AdminError
 */
export const importChain = defineMethod({
  name: "admin_importChain",
  params: { file: string },
  result: boolean,
  private: true,
  async handle({ file }, { node }: Modules) {
    await node.importChain(file);
    return true;
  },
});
