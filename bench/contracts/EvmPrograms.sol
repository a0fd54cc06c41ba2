// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Programs an engine is measured with: a token, a sort, a recurrence, and calls between contracts.
contract EvmPrograms {
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    /// An ERC-20 transfer's work, `count` times, to 16 receivers in turn.
    function transfers(uint256 count) external {
        balanceOf[msg.sender] = 1e30;
        for (uint256 i = 0; i < count; i++) transfer(address(uint160(0x1000 + (i & 15))), 1 + i);
    }

    function transfer(address to, uint256 value) public returns (bool) {
        uint256 have = balanceOf[msg.sender];
        require(have >= value, "balance");
        unchecked {
            balanceOf[msg.sender] = have - value;
        }
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    function fib(uint256 rounds) external pure returns (uint256 a) {
        uint256 b = 1;
        for (uint256 i = 0; i < rounds; i++) {
            unchecked {
                (a, b) = (b, a + b);
            }
        }
    }

    function sort(uint256 count) external pure returns (uint256 checksum) {
        uint256[] memory words = new uint256[](count);
        uint256 seed = 88172645463325252;
        for (uint256 i = 0; i < count; i++) {
            seed ^= (seed << 13) & type(uint64).max;
            seed ^= seed >> 7;
            seed ^= (seed << 17) & type(uint64).max;
            words[i] = seed;
        }
        quicksort(words, 0, int256(count) - 1);
        for (uint256 i = 1; i < count; i++) require(words[i - 1] <= words[i], "order");
        return words[count / 2];
    }

    function quicksort(uint256[] memory words, int256 left, int256 right) private pure {
        if (left >= right) return;
        uint256 pivot = words[uint256((left + right) / 2)];
        int256 i = left;
        int256 j = right;
        while (i <= j) {
            while (words[uint256(i)] < pivot) i++;
            while (words[uint256(j)] > pivot) j--;
            if (i > j) break;
            (words[uint256(i)], words[uint256(j)]) = (words[uint256(j)], words[uint256(i)]);
            i++;
            j--;
        }
        quicksort(words, left, j);
        quicksort(words, i, right);
    }

    /// `count` message calls to this contract.
    function calls(uint256 count) external view returns (uint256 sum) {
        for (uint256 i = 0; i < count; i++) sum += this.one();
    }

    function one() external pure returns (uint256) {
        return 1;
    }

    /// A tree of message calls `depth` deep, `count` times.
    function trees(uint256 count, uint256 depth) external returns (uint256 reached) {
        for (uint256 i = 0; i < count; i++) reached += this.tree{value: depth}(depth);
    }

    /// Sends one wei of what it got to an account without code and the rest to the frame below.
    function tree(uint256 depth) external payable returns (uint256) {
        (bool sent,) = address(uint160(0x2000 + depth)).call{value: 1}("");
        require(sent, "transfer");
        return depth == 1 ? 1 : 1 + this.tree{value: depth - 1}(depth - 1);
    }
}
