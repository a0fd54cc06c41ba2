import type { AdmittedCall, CallerIdentity, ServingPort } from "../../../les/port.ts";
import type { ClientConnection } from "../../../les/serving/light-clients.ts";
import { errorFromData } from "../../../rpc/ports/channel/error-data.ts";
import type { Connection } from "../../../rpc/transport/dispatch/context.ts";
import type { FromWorker, ToWorker } from "./rpc-protocol.ts";

type Pending = {
  readonly resolve: (call: AdmittedCall) => void;
  readonly reject: (error: Error) => void;
};

/** Asks the chain's process about each call: a client has one capacity, whichever processes serve its connections. */
export class ForwardedAdmission implements ServingPort {
  readonly #post: (message: FromWorker) => void;
  readonly #connectionId: (connection: Connection) => number;
  readonly #pending = new Map<number, Pending>();
  readonly #ids = new WeakMap<AdmittedCall, number>();
  #nextId = 1;

  constructor(
    post: (message: FromWorker) => void,
    connectionId: (connection: Connection) => number,
  ) {
    this.#post = post;
    this.#connectionId = connectionId;
  }

  admit(caller: CallerIdentity, connection: ClientConnection | undefined): Promise<AdmittedCall> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#post({
        ...{ kind: "admit", id, caller },
        connection: connection && this.#connectionId(connection as unknown as Connection),
      });
    });
  }

  charge(call: AdmittedCall, cost: number): void {
    this.#post({ kind: "charge", id: this.#ids.get(call)!, cost });
  }

  receive(message: ToWorker & { kind: "admitted" | "notAdmitted" }): void {
    const { id } = message;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (message.kind === "notAdmitted") {
      pending?.reject(errorFromData(message.error));
      return;
    }
    this.#ids.set(message.call, id);
    pending?.resolve(message.call);
  }
}
