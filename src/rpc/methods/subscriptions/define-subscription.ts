import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import { boolean, jsonKind, type ParamCodec, string, typeFault } from "../../transport/codec.ts";
import type { CallContext } from "../../transport/dispatch/context.ts";
import { NO_PARAMS } from "../../transport/dispatch/message.ts";
import {
  decodeParams,
  defineMethod,
  type Method,
  type NamedCodecs,
  type ParamCodecs,
  type Params,
} from "../../transport/dispatch/method.ts";
import { InvalidParamsError, UnknownSubscriptionError } from "../../transport/errors.ts";
import type { Subscriber } from "./subscriber.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** The declaration of one subscription of `NS_subscribe`. */
export type SubscriptionSpec<P extends ParamCodecs, Modules> = {
  /** the first parameter */
  readonly name: string;
  /** what follows it, in wire order */
  readonly params: P;
  /** Rejects the call before a subscription begins. */
  check?(params: Params<P>, modules: Modules): MaybePromise<void>;
  /** Registers `subscriber` with the feed of the subject; returns how to remove it. */
  start(params: Params<P>, modules: Modules, subscriber: Subscriber): () => void;
};

export type Subscription<Modules> = {
  readonly name: string;
  readonly start: (
    rawParams: readonly unknown[],
    modules: Modules,
  ) => MaybePromise<(subscriber: Subscriber) => () => void>;
};

export function defineSubscription<const P extends ParamCodecs, Modules>(
  spec: SubscriptionSpec<P, Modules>,
): Subscription<Modules> {
  // The name counts as a parameter where an error gives an index or a number.
  const codecs: NamedCodecs = [["name", subscriptionName], ...Object.entries(spec.params)];
  return {
    name: spec.name,
    start(rawParams, modules) {
      const params = decodeParams(codecs, rawParams) as Params<P>;
      const start = (subscriber: Subscriber) => spec.start(params, modules, subscriber);
      return spec.check ? andThen(spec.check(params, modules), () => start) : start;
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

type SubscribingModules = { readonly sessions: { readonly subscriptions: Subscriptions } };

/** `NS_subscribe` and `NS_unsubscribe`. */
export function subscriptionMethods<Modules extends SubscribingModules>({
  namespace,
  known,
  example,
}: {
  readonly namespace: string;
  readonly known: readonly Subscription<Modules>[];
  readonly example: readonly unknown[];
}): readonly Method<Modules>[] {
  const byName = new Map(known.map((subscription) => [subscription.name, subscription]));

  function subscribe(
    modules: Modules,
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
    const { subscriptions } = modules.sessions;
    return andThen(
      subscription.start(rawParams, modules),
      (start) => `"${subscriptions.open(namespace, context, start)}"`,
    );
  }

  const unsubscribe = defineMethod({
    name: `${namespace}_unsubscribe`,
    params: { id: subscriptionId },
    example: ["0x1"],
    result: boolean,
    handle({ id }, { sessions }: Modules, { connection }) {
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
      call: async (modules, rawParams = [], context) => {
        if (context === undefined) throw new InvalidParamsError("a subscription needs a caller");
        return JSON.parse(await subscribe(modules as Modules, rawParams, context));
      },
    },
    unsubscribe,
  ];
}
