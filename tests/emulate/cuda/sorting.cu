#include "check.h"
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <algorithm>
int main()
{
    std::vector<int> h(3000);
    for (size_t i = 0; i < h.size(); i++)
        h[i] = int(i * 7919 % 3001);
    thrust::device_vector<int> d = h, e(h.size());
    thrust::sort(d.begin(), d.end());
    std::vector<int> s = h, r(h.size());
    std::sort(s.begin(), s.end());
    thrust::copy(d.begin(), d.end(), r.begin());
    NEED(r == s);
    int want = 0, sum = thrust::reduce(d.begin(), d.end());
    for (int v : h)
        want += v;
    NEED(sum == want);
    thrust::inclusive_scan(d.begin(), d.end(), e.begin());
    NEED(e.back() == want);
    return PASS;
}
