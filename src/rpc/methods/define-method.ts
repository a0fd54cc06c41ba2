import {
  defineMethod as define,
  type Method,
  type MethodSpec,
  type ParamCodecs,
} from "../transport/dispatch/method.ts";
import type { ServingPorts } from "./rpc-ports.ts";

/**
 * Makes a method of its declaration. Its handler takes the ports that it needs. A handler that needs sessions of the chain's process
 * annotates `RpcPorts`; then only `forwarded` puts the method into a list.
 */
export function defineMethod<const P extends ParamCodecs, Result, Ports = ServingPorts>(
  spec: MethodSpec<P, Ports, Result>,
): Method<Ports> {
  return define(spec);
}
