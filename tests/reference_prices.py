"""Price rules in plain Python, part of the oracle: what every feature costs, given what was bought before."""

from math import inf

import numpy as np

# A price rule is a function from the features bought so far, in order, to a price for every feature.


def taken_off(price, factor):
    """What is never sold stays so, even where everything is taken off."""
    return price if price == inf else price * factor


def fixed_prices(prices, most=inf):
    def rule(bought):
        return [inf] * len(prices) if len(bought) + 1 > most else list(prices)

    return rule


def neighbour_prices(prices, neighbours, factor):
    """Buying f multiplies the price of every feature in neighbours[f]."""

    def rule(bought):
        now = list(prices)
        for f in bought:
            for g in neighbours[f]:
                now[g] = taken_off(now[g], factor)
        return now

    return rule


def paying_bags(bags_of, price_of, bought):
    """bags_of[f]: the bags of feature f. Owning any of them makes it free; else it pays the cheapest, lowest first."""
    owned = []
    for f in bought:
        if not any(bag in owned for bag in bags_of[f]):
            owned.append(min(bags_of[f], key=lambda bag: (price_of[bag], bag)))
    return owned


def bag_prices(bags_of, price_of, most=inf):
    def rule(bought):
        owned = paying_bags(bags_of, price_of, bought)
        full = len(owned) + 1 > most
        return [
            0.0 if any(b in owned for b in bags) else inf if full else min(price_of[b] for b in bags)
            for bags in bags_of
        ]

    return rule


def stage_prices(own, stages_of, price_of, needs, cheaper):
    """stages_of[f]: all stages on the way to f. needs[s]: features. cheaper[s]: (feature, factor) pairs."""

    def rule(bought):
        now, passed = list(own), []
        for f in bought:
            for s in sorted(stages_of[f]):
                if s not in passed:
                    passed.append(s)
                    for g, factor in cheaper[s]:
                        now[g] = taken_off(now[g], factor)
        out = []
        for f, stages in enumerate(stages_of):
            price = now[f]
            for s in sorted(stages):
                if s not in passed:
                    price += price_of[s] if all(g in bought for g in needs[s]) else inf
            out.append(price)
        return out

    return rule


def function_prices(prices, phi):
    def rule(bought):
        now, owned = np.array(prices, dtype=float), np.zeros(len(prices), bool)
        for f in bought:
            owned[f] = True
            now = np.asarray(phi(owned.copy(), f, now.copy()), dtype=float)
        return now.tolist()

    return rule
