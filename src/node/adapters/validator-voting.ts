import type { Address } from "../../base/primitives/address.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { recoverSenderKey } from "../../base/types/transaction/sender.ts";
import { differingValues, type Parameter } from "../../chain/agreement/agreement.ts";
import type { Chain } from "../../chain/chain.ts";
import type { EngineNetwork } from "../../consensus/engine.ts";
import type { Voting } from "../../consensus/governance.ts";
import { tallyOf } from "../../consensus/voting/snapshot.ts";
import { NoSignaturesError } from "../../rpc/methods/clique/methods.ts";
import type { ChainView } from "../../rpc/ports/chain-view.ts";
import type { ValidatorVoting } from "../../rpc/ports/voting.ts";

/**
 * The `clique` methods over the votes in the chain.
 * @param network undefined for the solo engine
 */
export function createValidatorVoting(
  voting: Voting,
  chain: Chain,
  view: Pick<ChainView, "account" | "transactionBySender">,
  network: EngineNetwork | undefined,
): ValidatorVoting {
  /** The public key of a known validator, else the signer of the account's first or newest transaction. */
  async function findPublicKey(address: Address): Promise<Uint8Array | undefined> {
    const { signers } = voting.snapshotAt(chain.head().block.header.number);
    const known = [...signers, ...voting.startingSet().signers].find(
      (signer) => signer.address === address && signer.publicKey.length > 0,
    );
    if (known) return known.publicKey;
    const nonce = (await view.account({ address, at: "latest" }))?.nonce ?? 0n;
    // EIP-7702 authorizations raise the nonce without a transaction.
    for (const used of new Set(nonce > 0n ? [0n, nonce - 1n] : [])) {
      const { mined } = await view.transactionBySender({ sender: address, nonce: used });
      if (mined) return recoverSenderKey(mined.tx);
    }
    return undefined;
  }

  const jailedAt = () => voting.snapshotAt(chain.head().block.header.number).jailed ?? [];

  return {
    cliqueSnapshot({ number }) {
      const snapshot = voting.snapshotAt(number);
      const { signers, votes } = snapshot;
      const recents = voting.recentSigners(number, Math.floor(signers.length / 2) + 1);
      const activeFrom = voting.activeFrom(number);
      return {
        number,
        hash: chain.blockHash(number)!,
        signers: Object.fromEntries(signers.map(({ address }) => [address, {}])),
        activeFrom: activeFrom ? Object.fromEntries(activeFrom) : null,
        recents: Object.fromEntries(recents),
        votes: votes.map(({ signer, block, candidate, authorize, publicKey }) => ({
          signer,
          block,
          authorize,
          address: candidate,
          ...(publicKey.length > 0 && { publicKey: bytesToHex(publicKey) }),
        })),
        tally: Object.fromEntries(tallyOf(snapshot)),
      };
    },
    cliqueSigner: ({ number }) => voting.signerOf(number),
    async cliqueLightBlock({ number }) {
      if (network === undefined) throw new NoSignaturesError();
      return network.lightBlock(number + 1);
    },
    cliqueStatus() {
      const { blocks, inTurn, proposed } = voting.activity();
      return {
        inturnPercent: blocks === 0 ? 0 : (100 * inTurn) / blocks,
        numBlocks: blocks,
        sealerActivity: Object.fromEntries(proposed),
        jailed: Object.fromEntries(jailedAt().map(({ address, block }) => [address, block])),
      };
    },
    cliqueProposals: () =>
      Object.fromEntries(voting.proposals.all().map(({ candidate, authorize }) => [candidate, authorize])),
    async cliquePropose({ candidate, authorize, publicKey }) {
      const key = authorize ? (publicKey ?? (await findPublicKey(candidate))) : undefined;
      voting.propose(candidate, authorize, key);
    },
    cliqueDiscard: ({ candidate }) => voting.proposals.discard(candidate),
    cliqueParameters({ number }) {
      const { values, votes } = voting.agreementAt(number);
      return {
        number,
        hash: chain.blockHash(number)!,
        agreed: numbersOf(values),
        votes: votes.map(({ signer, block, name, value }) => ({ signer, block, name, value: Number(value) })),
        differing: [...differingValues(votes).keys()],
        proposals: numbersOf(voting.parameterProposals.all()),
        unknownFork: chain.config.unknownFork ?? null,
      };
    },
    cliqueProposeParameter: ({ name, value }) => voting.proposeParameter({ name, value: BigInt(value) }),
    cliqueDiscardParameter: ({ name }) => voting.parameterProposals.discard(name),
  };
}

/** Their bounds are below 2^53. */
function numbersOf(parameters: readonly Parameter[]): Readonly<Record<string, number>> {
  return Object.fromEntries(parameters.map(({ name, value }) => [name, Number(value)]));
}
