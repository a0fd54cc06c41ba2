import type { ProofStep } from "../verify/account.ts";
import { bytesOfHex, counted } from "./format.ts";
import { HexText } from "./parts.tsx";

/** The path from a root to a value: each node's expected hash, its kind, and the nibbles it consumes. */
export function ProofView({ steps, label }: { steps: readonly ProofStep[]; label: string }) {
  return (
    <details class="proof">
      <summary>
        {label}: {counted(steps.length, "node")}
      </summary>
      <ol>
        {steps.map((step) => (
          <li key={step.hash + step.before}>
            <div class="line">
              <b>{step.kind}</b>
              <span class="path">
                <span class="muted">{step.before}</span>
                <strong>{step.consumed}</strong>
              </span>
              <span class="muted">{bytesOfHex(step.rlp)} bytes</span>
            </div>
            <div class="line">
              keccak256 <HexText value={step.hash} />
              <span class={step.hash === step.expected ? "ok" : "bad"}>
                {step.hash === step.expected ? "as its parent says" : `expected ${step.expected}`}
              </span>
            </div>
            <details>
              <summary>RLP</summary>
              <pre>{step.rlp}</pre>
            </details>
          </li>
        ))}
      </ol>
    </details>
  );
}
