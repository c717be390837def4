"""The statistics of the study: chi-square and binomial distributions by plain sums, and the work of an estimator."""

import math
import statistics


def chi_square_tail(x, degrees):
    """P(chi-square with `degrees` degrees of freedom > x), to about 1e-13."""
    a, x = degrees / 2, x / 2
    if x <= 0:
        return 1.0
    scale = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:  # gamma(a, x) = x^a e^-x sum_n x^n / (a (a+1) ... (a+n))
        term = total = 1 / a
        n = a
        while term > total * 1e-16:
            n += 1
            term *= x / n
            total += term
        return 1 - scale * total
    # Gamma(a, x) = x^a e^-x / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), from the front (Lentz).
    b = x + 1 - a
    c, d = math.inf, 1 / b
    fraction = d
    for n in range(1, 10000):
        factor = n * (a - n)
        b += 2
        d = 1 / (b + factor * d)
        c = b + factor / c
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return scale * fraction


def bisect(increasing, low, high):
    """Where an increasing function changes sign."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if increasing(middle) > 0 else (middle, high)
    return (low + high) / 2


def chi_square_quantile(p, degrees):
    return bisect(lambda x: 1 - chi_square_tail(x, degrees) - p, 0.0, 10 * degrees + 200)


def chi_square_test(z, level=0.01):
    """Whether the sum of z^2 lies within two-sided bounds: too large, errors are understated; too small, overstated."""
    n, total = len(z), sum(value * value for value in z)
    low, high = chi_square_quantile(level / 2, n), chi_square_quantile(1 - level / 2, n)
    return {"sum": total, "low": low, "high": high, "tail": chi_square_tail(total, n), "ok": low <= total <= high}


def binomial_tail(k, n, p):
    """P(at least k of n)."""
    return sum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


def binomial_interval(k, n, level=0.95):
    """Bounds of a probability of which k of n were seen (Clopper and Pearson)."""
    rest = (1 - level) / 2
    low = bisect(lambda p: binomial_tail(k, n, p) - rest, 0.0, 1.0) if k > 0 else 0.0
    high = bisect(lambda p: binomial_tail(k + 1, n, p) - (1 - rest), 0.0, 1.0) if k < n else 1.0
    return low, high


def variance_with_error(values):
    """The sample variance, and its relative standard error for a normal sample."""
    return statistics.variance(values), math.sqrt(2 / (len(values) - 1))


def mean_with_error(values):
    return statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))
