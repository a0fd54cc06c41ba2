// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Trades two tokens with itself as the only customer of a Uniswap v2 pair and a v3 pool.
contract Trader {
    uint256 private constant AMOUNT = 1e15;
    uint160 private constant PRICE_MIN = 4295128740;
    uint160 private constant PRICE_MAX = 1461446703485210103287273052203988822378723970341;

    address[2] private tokens;

    function setTokens(address token0, address token1) external {
        tokens = [token0, token1];
    }

    /// To `count` receivers without a balance.
    function transfers(uint256 count) external {
        for (uint256 i = 0; i < count; i++) pay(0, address(uint160(0x100000 + i)), 1);
    }

    function addLiquidityV2(address pair, uint256 amount) external {
        pay(0, pair, amount);
        pay(1, pair, amount);
        execute(pair, abi.encodeWithSignature("mint(address)", address(this)));
    }

    function swapsV2(address pair, uint256 count) external {
        for (uint256 i = 0; i < count; i++) {
            (uint112 reserve0, uint112 reserve1, ) = abi.decode(
                execute(pair, abi.encodeWithSignature("getReserves()")),
                (uint112, uint112, uint32)
            );
            bool isFirst = i & 1 == 0;
            (uint256 into, uint256 from) = isFirst ? (reserve0, reserve1) : (reserve1, reserve0);
            uint256 paid = AMOUNT * 997;
            uint256 bought = (paid * from) / (into * 1000 + paid);
            pay(isFirst ? 0 : 1, pair, AMOUNT);
            (uint256 out0, uint256 out1) = isFirst ? (uint256(0), bought) : (bought, uint256(0));
            execute(
                pair,
                abi.encodeWithSignature("swap(uint256,uint256,address,bytes)", out0, out1, address(this), "")
            );
        }
    }

    function addLiquidityV3(address pool, uint128 amount) external {
        execute(
            pool,
            abi.encodeWithSignature(
                "mint(address,int24,int24,uint128,bytes)",
                address(this),
                int24(-60000),
                int24(60000),
                amount,
                ""
            )
        );
    }

    function swapsV3(address pool, uint256 count) external {
        for (uint256 i = 0; i < count; i++) {
            bool isFirst = i & 1 == 0;
            execute(
                pool,
                abi.encodeWithSignature(
                    "swap(address,bool,int256,uint160,bytes)",
                    address(this),
                    isFirst,
                    int256(AMOUNT),
                    isFirst ? PRICE_MIN : PRICE_MAX,
                    ""
                )
            );
        }
    }

    function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata) external {
        pay(0, msg.sender, owed0);
        pay(1, msg.sender, owed1);
    }

    function uniswapV3SwapCallback(int256 delta0, int256 delta1, bytes calldata) external {
        if (delta0 > 0) pay(0, msg.sender, uint256(delta0));
        if (delta1 > 0) pay(1, msg.sender, uint256(delta1));
    }

    function pay(uint256 token, address to, uint256 amount) private {
        execute(tokens[token], abi.encodeWithSignature("transfer(address,uint256)", to, amount));
    }

    function execute(address to, bytes memory data) private returns (bytes memory) {
        (bool succeeded, bytes memory result) = to.call(data);
        require(succeeded);
        return result;
    }
}
