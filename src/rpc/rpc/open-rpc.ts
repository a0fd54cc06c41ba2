import { type MethodInfo, namespaceOf } from "../dispatch/method.ts";

/** Of the OpenRPC specification. */
const OPEN_RPC_VERSION = "1.3.2";

export type OpenRpcDocument = ReturnType<typeof openRpcDocument>;

/** The OpenRPC document of `methods`, in order of their names. */
export function openRpcDocument(
  methods: readonly MethodInfo[],
  info: { readonly title: string; readonly version: string },
) {
  const sorted = [...methods].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    openrpc: OPEN_RPC_VERSION,
    info,
    methods: sorted.map(({ name, params, resultSchema, isPrivate }) => ({
      name,
      tags: [{ name: namespaceOf(name) }],
      paramStructure: "by-position",
      params: params.map((param) => ({
        name: param.name,
        required: param.isRequired,
        schema: param.schema,
      })),
      result: { name: "result", schema: resultSchema },
      ...(isPrivate && { "x-needs-credential": true }),
    })),
  };
}
