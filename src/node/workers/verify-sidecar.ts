import { sidecarFaultText } from "../../crypto/kzg/sidecar.ts";
import type { BlobSidecar } from "../../types/transaction/transaction.ts";
import { serveTasks } from "./serve-tasks.ts";

serveTasks<BlobSidecar, string | undefined>(sidecarFaultText);
