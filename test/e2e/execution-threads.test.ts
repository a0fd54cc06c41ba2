import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { callHttp } from "../../src/rpc/testing/rpc-client.ts";
import { waitForMetric } from "../support/metrics.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
