// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Stores the newest checkpoint of light clients that enough admins signed. The interface is that of geth's oracle; unlike there, admins
/// may bring their signatures one by one: those of one checkpoint are counted until there are enough.
contract CheckpointOracle {
    event NewCheckpointVote(uint64 indexed index, bytes32 checkpointHash, uint8 v, bytes32 r, bytes32 s);

    mapping(address => bool) private isAdmin;
    address[] private admins;
    uint64 private sectionIndex;
    /// Block in which the checkpoint was set; 0: there is none yet.
    uint256 private height;
    bytes32 private checkpoint;
    uint256 private sectionSize;
    uint256 private confirmations;
    uint256 private threshold;
    /// Digest that is signed, then signer.
    mapping(bytes32 => mapping(address => bool)) private hasVoted;
    mapping(bytes32 => uint256) private votes;

    constructor(address[] memory admins_, uint256 sectionSize_, uint256 confirmations_, uint256 threshold_) {
        admins = admins_;
        for (uint256 i = 0; i < admins_.length; i++) isAdmin[admins_[i]] = true;
        sectionSize = sectionSize_;
        confirmations = confirmations_;
        threshold = threshold_;
    }

    function GetLatestCheckpoint() external view returns (uint64, bytes32, uint256) {
        return (sectionIndex, checkpoint, height);
    }

    function GetAllAdmin() external view returns (address[] memory) {
        return admins;
    }

    /// @param recentNumber a block of the last 256, with its hash: a vote for another fork does not count here
    /// @param v, r, s signatures of admins over keccak256(0x19 ‖ 0x00 ‖ this ‖ index ‖ hash), by ascending signer
    /// @return true when the checkpoint is set by this call
    function SetCheckpoint(
        uint256 recentNumber,
        bytes32 recentHash,
        bytes32 hash,
        uint64 index,
        uint8[] memory v,
        bytes32[] memory r,
        bytes32[] memory s
    ) external returns (bool) {
        require(isAdmin[msg.sender], "sender is no admin");
        require(recentHash != 0 && blockhash(recentNumber) == recentHash, "another fork");
        require(v.length == r.length && v.length == s.length, "signatures have three parts");
        if (hash == 0) return false;
        if (height != 0 && index <= sectionIndex) return false;
        if (block.number < (uint256(index) + 1) * sectionSize + confirmations) return false;

        bytes32 digest = keccak256(abi.encodePacked(bytes1(0x19), bytes1(0x00), address(this), index, hash));
        address last = address(0);
        for (uint256 i = 0; i < v.length; i++) {
            address signer = ecrecover(digest, v[i], r[i], s[i]);
            require(isAdmin[signer], "signer is no admin");
            require(signer > last, "signers must ascend");
            last = signer;
            if (hasVoted[digest][signer]) continue;
            hasVoted[digest][signer] = true;
            votes[digest]++;
            emit NewCheckpointVote(index, hash, v[i], r[i], s[i]);
        }
        if (votes[digest] < threshold) return false;
        checkpoint = hash;
        sectionIndex = index;
        height = block.number;
        return true;
    }
}
