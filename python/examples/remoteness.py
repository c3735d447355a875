"""Draws a chart of a solved game: the share of each remoteness among the positions of each tier.

    python3 remoteness.py [DATA [FILE.svg]]

It needs the standard library only. Editors run the parts between the lines "# %%" one by one, as the
cells of a notebook.
"""

# %% Read the statistics.
import sys
from typing import Dict, List

from treereduce import Table

data = sys.argv[1] if len(sys.argv) > 1 else "all_data"
target = sys.argv[2] if len(sys.argv) > 2 else "remoteness.svg"

with Table(data) as table:
    game = table.game
    tiers = table.stats()["tiers"]

# %% Add up the outcomes: for each tier, the share of its positions with each remoteness.
shares: List[Dict[int, float]] = []
for tier in tiers:
    share: Dict[int, float] = {}
    for row in tier["remoteness"]:
        if "remoteness" in row:  # draws have none
            share[row["remoteness"]] = share.get(row["remoteness"], 0) + row["positions"] / tier["positions"]
    shares.append(share)
longest = max(remoteness for share in shares for remoteness in share)
mean = [sum(r * s for r, s in share.items()) / (sum(share.values()) or 1) for share in shares]

# %% Draw: a column for each tier, a row for each remoteness, darker for a larger share; a line through the means.
SIZE, MARGIN = 18, 50
width, height = len(shares) * SIZE + 2 * MARGIN, (longest + 1) * SIZE + 2 * MARGIN


def x(tier: float) -> float:
    return MARGIN + tier * SIZE


def y(remoteness: float) -> float:
    return height - MARGIN - (remoteness + 1) * SIZE


svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">']
svg.append(f'<rect width="{width}" height="{height}" fill="white"/>')
svg.append(f'<text x="{MARGIN}" y="{MARGIN / 2}" font-size="14">{game}: remoteness by tier</text>')
for n, share in enumerate(shares):
    for remoteness, part in share.items():
        svg.append(
            f'<rect x="{x(n)}" y="{y(remoteness)}" width="{SIZE}" height="{SIZE}" fill="#1f5fa8" fill-opacity="{part**0.5:.3f}">'
            f"<title>tier {n}, remoteness {remoteness}: {part:.2%}</title></rect>"
        )
points = " ".join(f"{x(n + 0.5)},{y(m - 0.5):.1f}" for n, m in enumerate(mean))
svg.append(f'<polyline points="{points}" fill="none" stroke="#c1440e" stroke-width="2"/>')
for n in range(0, len(shares), 5):
    svg.append(f'<text x="{x(n + 0.5)}" y="{y(-1.9)}" text-anchor="middle">{n}</text>')
for remoteness in range(0, longest + 1, 5):
    svg.append(f'<text x="{MARGIN - 6}" y="{y(remoteness) + 13}" text-anchor="end">{remoteness}</text>')
svg.append(f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">tier (the line is the mean)</text></svg>')

with open(target, "w", encoding="utf-8") as file:
    file.write("\n".join(svg) + "\n")
print(f"{game}: {len(shares)} tiers, remoteness up to {longest}, in {target}")
