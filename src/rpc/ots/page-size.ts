import { InvalidParamsError } from "../dispatch/errors.ts";
import type { RpcSettings } from "../ports/rpc-ports.ts";

/** @throws InvalidParamsError unless a page of `size` may be asked for */
export function assertPageSize(
  size: number,
  { otsPageSizeMax }: Pick<RpcSettings, "otsPageSizeMax">,
): void {
  if (size >= 1 && size <= otsPageSizeMax) return;
  throw new InvalidParamsError(`page size must be 1 to ${otsPageSizeMax}`, "pageSize");
}
