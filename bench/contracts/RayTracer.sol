// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// Renders a few mirrored spheres over a checkered floor in fixed-point arithmetic and returns a checksum of the picture.
contract RayTracer {
    int256 private constant ONE = 1e6;
    uint256 private constant BOUNCES = 3;

    struct Vector {
        int256 x;
        int256 y;
        int256 z;
    }

    struct Sphere {
        Vector centre;
        int256 radius;
        int256 shade;
        int256 mirror;
    }

    function render(uint256 width, uint256 height) external pure returns (bytes32 checksum) {
        Sphere[] memory scene = build();
        for (uint256 row = 0; row < height; row++) {
            for (uint256 column = 0; column < width; column++) {
                Vector memory direction = unit(
                    Vector(
                        ((int256(column) * 2 - int256(width)) * ONE) / int256(width),
                        ((int256(height) - int256(row) * 2) * ONE) / int256(height),
                        ONE + ONE / 2
                    )
                );
                int256 shade = trace(scene, Vector(0, ONE, -4 * ONE), direction, BOUNCES);
                checksum = keccak256(abi.encode(checksum, shade));
            }
        }
    }

    function build() private pure returns (Sphere[] memory scene) {
        scene = new Sphere[](5);
        for (uint256 i = 0; i < 5; i++) {
            int256 at = int256(i) * 2 * ONE - 4 * ONE;
            scene[i] = Sphere(
                Vector(at, ONE / 2 + (at * at) / ONE / 16, 3 * ONE + (int256(i % 2)) * ONE),
                ONE - int256(i) * (ONE / 10),
                ONE / 2 + int256(i) * (ONE / 12),
                ONE / 3
            );
        }
    }

    function trace(Sphere[] memory scene, Vector memory origin, Vector memory direction, uint256 depth)
        private
        pure
        returns (int256)
    {
        int256 nearest = type(int256).max;
        uint256 hit = scene.length;
        for (uint256 i = 0; i < scene.length; i++) {
            int256 distance = meet(scene[i], origin, direction);
            if (distance > 0 && distance < nearest) {
                nearest = distance;
                hit = i;
            }
        }
        if (hit == scene.length) return background(origin, direction);
        Vector memory point = along(origin, direction, nearest);
        return shadeAt(scene, scene[hit], point, direction, depth);
    }

    function shadeAt(
        Sphere[] memory scene,
        Sphere memory sphere,
        Vector memory point,
        Vector memory direction,
        uint256 depth
    ) private pure returns (int256) {
        Vector memory normal = unit(minus(point, sphere.centre));
        int256 light = dot(normal, Vector(-577350, 577350, -577350));
        int256 own = (sphere.shade * (light > 0 ? light : int256(0))) / ONE + ONE / 10;
        if (depth == 0) return own;
        Vector memory bounced = bounce(direction, normal);
        int256 other = trace(scene, along(point, bounced, ONE / 1000), bounced, depth - 1);
        return (own * (ONE - sphere.mirror) + other * sphere.mirror) / ONE;
    }

    function bounce(Vector memory direction, Vector memory normal) private pure returns (Vector memory) {
        int256 turn = 2 * dot(direction, normal);
        return unit(
            Vector(
                direction.x - (turn * normal.x) / ONE,
                direction.y - (turn * normal.y) / ONE,
                direction.z - (turn * normal.z) / ONE
            )
        );
    }

    function background(Vector memory origin, Vector memory direction) private pure returns (int256) {
        if (direction.y >= -1000) return ONE / 2 + direction.y / 2;
        int256 distance = ((origin.y + ONE) * ONE) / -direction.y;
        Vector memory floorPoint = along(origin, direction, distance);
        bool odd = ((floorPoint.x / ONE) + (floorPoint.z / ONE)) % 2 != 0;
        return odd ? ONE / 5 : (ONE * 4) / 5;
    }

    function meet(Sphere memory sphere, Vector memory origin, Vector memory direction)
        private
        pure
        returns (int256)
    {
        Vector memory to = minus(sphere.centre, origin);
        int256 middle = dot(to, direction);
        if (middle < 0) return 0;
        int256 square = dot(to, to) - (middle * middle) / ONE;
        int256 radius = (sphere.radius * sphere.radius) / ONE;
        if (square > radius) return 0;
        return middle - root((radius - square) * ONE);
    }

    function along(Vector memory from, Vector memory direction, int256 distance)
        private
        pure
        returns (Vector memory)
    {
        return Vector(
            from.x + (direction.x * distance) / ONE,
            from.y + (direction.y * distance) / ONE,
            from.z + (direction.z * distance) / ONE
        );
    }

    function minus(Vector memory a, Vector memory b) private pure returns (Vector memory) {
        return Vector(a.x - b.x, a.y - b.y, a.z - b.z);
    }

    function dot(Vector memory a, Vector memory b) private pure returns (int256) {
        return (a.x * b.x + a.y * b.y + a.z * b.z) / ONE;
    }

    function unit(Vector memory a) private pure returns (Vector memory) {
        int256 length = root((a.x * a.x + a.y * a.y + a.z * a.z));
        return Vector((a.x * ONE) / length, (a.y * ONE) / length, (a.z * ONE) / length);
    }

    function root(int256 square) private pure returns (int256 guess) {
        if (square <= 0) return 0;
        guess = square;
        int256 next = (square + 1) / 2;
        while (next < guess) {
            guess = next;
            next = (guess + square / guess) / 2;
        }
    }
}
