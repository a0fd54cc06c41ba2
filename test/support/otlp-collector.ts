import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

type KeyValue = {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly boolValue?: boolean };
};

type SentSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code: number };
};

type Traces = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
};

/** A span as the collector got it, with its attributes and those of its process. */
export type CollectedSpan = Omit<SentSpan, "attributes"> & {
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly resource: Readonly<Record<string, string | number | boolean | undefined>>;
};

export type OtlpCollector = {
  readonly endpoint: string;
  readonly spans: readonly CollectedSpan[];
  named(name: string): readonly CollectedSpan[];
  close(): void;
};

/** Takes traces by OTLP over HTTP, as JSON. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as Traces;
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ ...span, attributes: recordOf(span.attributes), resource: recordOf(resource.attributes) });
      }
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}/v1/traces`,
    spans,
    named: (name) => spans.filter((span) => span.name === name),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function recordOf(attributes: readonly KeyValue[]) {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.boolValue ?? value.intValue]),
  );
}
