import {
  defineMethod as define,
  type Method,
  type MethodSpec,
  type ParamCodecs,
} from "../transport/dispatch/method.ts";
import { forwarded, type RpcPorts, type ServingPorts } from "./rpc-ports.ts";

/** Makes a method of its declaration; its handler takes the ports that it needs. */
export function defineMethod<const P extends ParamCodecs, Result>(
  spec: MethodSpec<P, ServingPorts, Result>,
): Method<ServingPorts> {
  return define(spec);
}

/** Makes a method that needs sessions of the chain's process, which runs it for all. */
export function defineForwardedMethod<const P extends ParamCodecs, Result>(
  spec: MethodSpec<P, RpcPorts, Result>,
): Method<ServingPorts> {
  return forwarded(define(spec));
}

/** All methods that these modules export, alone or in lists. */
export function exportedMethods(...modules: readonly object[]): readonly Method<ServingPorts>[] {
  return modules.flatMap((module) => Object.values(module).flat()).filter(isMethod);
}

function isMethod(value: unknown): value is Method<ServingPorts> {
  return typeof value === "object" && value !== null && "run" in value && "resultSchema" in value;
}
