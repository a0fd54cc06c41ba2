import { andThen, type MaybePromise } from "../../base/threads/maybe-promise.ts";
import { boolean, jsonKind, type ParamCodec, string, typeFault } from "../transport/codec.ts";
import type { CallContext } from "../transport/dispatch/context.ts";
import { NO_PARAMS } from "../transport/dispatch/message.ts";
import {
  decodeParams,
  type Method,
  type NamedCodecs,
  type ParamCodecs,
  type Params,
} from "../transport/dispatch/method.ts";
import { InvalidParamsError, UnknownSubscriptionError } from "../transport/errors.ts";
import { defineMethod } from "./define-method.ts";
import type { ServingPorts } from "./rpc-ports.ts";
import type { Subscriber } from "./subscriptions/subscriber.ts";

/** The declaration of one subscription of `NS_subscribe`. */
export type SubscriptionSpec<P extends ParamCodecs> = {
  /** the first parameter */
  readonly name: string;
  /** what follows it, in wire order */
  readonly params: P;
  /** Rejects the call before a subscription begins. */
  check?(params: Params<P>, ports: ServingPorts): MaybePromise<void>;
  /** Registers `subscriber` with the feed of the subject; returns how to remove it. */
  start(params: Params<P>, ports: ServingPorts, subscriber: Subscriber): () => void;
};

export type Subscription = {
  readonly name: string;
  readonly start: (
    rawParams: readonly unknown[],
    ports: ServingPorts,
  ) => MaybePromise<(subscriber: Subscriber) => () => void>;
};

export function defineSubscription<const P extends ParamCodecs>(spec: SubscriptionSpec<P>): Subscription {
  // The name counts as a parameter where an error gives an index or a number.
  const codecs: NamedCodecs = [["name", subscriptionName], ...Object.entries(spec.params)];
  return {
    name: spec.name,
    start(rawParams, ports) {
      const params = decodeParams(codecs, rawParams) as Params<P>;
      const start = (subscriber: Subscriber) => spec.start(params, ports, subscriber);
      return spec.check ? andThen(spec.check(params, ports), () => start) : start;
    },
  };
}

const subscriptionName: ParamCodec<string> = { decode: string.decode };

/** Named as geth names its type in errors. Over HTTP no id is known, which is what geth answers there too. */
const subscriptionId: ParamCodec<string> = {
  schema: string.schema ?? {},
  decode(value, field) {
    if (typeof value !== "string" && value !== null) throw typeFault(jsonKind(value), "rpc.ID", field);
    return string.decode(value, field);
  },
};

/** `NS_subscribe` and `NS_unsubscribe`. */
export function subscriptionMethods({
  namespace,
  known,
  example,
}: {
  readonly namespace: string;
  readonly known: readonly Subscription[];
  readonly example: readonly unknown[];
}): readonly Method<ServingPorts>[] {
  const byName = new Map(known.map((subscription) => [subscription.name, subscription]));

  function subscribe(
    ports: ServingPorts,
    rawParams: readonly unknown[] | undefined,
    context: CallContext,
  ): MaybePromise<string> {
    if (rawParams === undefined || rawParams === NO_PARAMS) throw new InvalidParamsError("non-array args");
    const [name] = rawParams;
    if (typeof name !== "string") {
      throw new InvalidParamsError("expected subscription name as first argument", "name");
    }
    const subscription = byName.get(name);
    if (subscription === undefined) throw new UnknownSubscriptionError(namespace, name);
    const { subscriptions } = ports.sessions;
    return andThen(
      subscription.start(rawParams, ports),
      (start) => `"${subscriptions.open(namespace, context, start)}"`,
    );
  }

  const unsubscribe = defineMethod({
    name: `${namespace}_unsubscribe`,
    params: { id: subscriptionId },
    example: ["0x1"],
    result: boolean,
    handle({ id }, { sessions }, { connection }) {
      sessions.subscriptions.close(id, connection);
      return true;
    },
  });

  return [
    {
      name: `${namespace}_subscribe`,
      namespace,
      params: [
        {
          name: "name",
          isRequired: true,
          schema: { type: "string", enum: [...byName.keys()] },
        },
        { name: "options", isRequired: false, schema: {} },
      ],
      example,
      resultSchema: string.schema ?? {},
      isAscii: false,
      isPrivate: false,
      needsConnection: true,
      isUntimed: false,
      isHeavy: false,
      isForwarded: false,
      run: subscribe,
      call: async (ports, rawParams = [], context) => {
        if (context === undefined) throw new InvalidParamsError("a subscription needs a caller");
        return JSON.parse(await subscribe(ports as ServingPorts, rawParams, context));
      },
    },
    unsubscribe,
  ];
}
