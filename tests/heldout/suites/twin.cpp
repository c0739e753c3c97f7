/* Runs one kernel of this folder on a processor: twin KERNEL gx gy gz bx by bz SHARED ARG... SYMBOL=FILE...
 * An argument is FILE (a buffer, read before and written after) or =HEX (a value, little-endian). Built by twin.py. */
#include "twin.h"
machine_ vm_;
#include SOURCE
static const kernel_ kernels[] = {
#include "twin_list.h"
};
static const struct { const char *name; void *at; } symbols[] = {
#include "twin_symbols.h"
    { "", 0 } };
static void (*entry)(void **);
static void **values;
void wait_() { swapcontext(&vm_.thread[vm_.now].at, &vm_.back); }
static void start()
{
    entry(values);
    thread_ &t = vm_.thread[vm_.now];
    t.over = true;
    vm_.alive--;
    if (vm_.alive && vm_.came >= vm_.alive) { vm_.came = 0; vm_.turn++; }
}
static void run_cta(std::vector<std::vector<char>> &stack)
{
    unsigned n = vm_.block.x * vm_.block.y * vm_.block.z;
    vm_.thread.assign(n, thread_()); vm_.alive = n; vm_.came = 0; vm_.warp.clear();
    for (unsigned i = 0; i < n; i++) {
        thread_ &t = vm_.thread[i];
        t.linear = i; t.id = { i % vm_.block.x, i / vm_.block.x % vm_.block.y, i / vm_.block.x / vm_.block.y };
        getcontext(&t.at); t.at.uc_stack = { stack[i].data(), 0, stack[i].size() }; t.at.uc_link = &vm_.back;
        makecontext(&t.at, start, 0);
    }
    while (vm_.alive)
        for (unsigned i = 0; i < n; i++)
            if (!vm_.thread[i].over) { vm_.now = i; swapcontext(&vm_.back, &vm_.thread[i].at); }
}
static std::vector<char> load(const char *p)
{
    std::vector<char> v; FILE *f = fopen(p, "rb"); char b[4096]; size_t n;
    if (!f) { perror(p); exit(1); }
    while ((n = fread(b, 1, sizeof b, f)) > 0) v.insert(v.end(), b, b + n);
    fclose(f); return v;
}
#ifdef DYNAMIC
float DYNAMIC[65536];
#endif
int main(int argc, char **argv)
{
    unsigned d[7];
    for (int i = 0; i < 7; i++) d[i] = (unsigned)atoi(argv[2 + i]);
    vm_.grid = { d[0], d[1], d[2] }; vm_.block = { d[3], d[4], d[5] };
    for (const kernel_ &k : kernels) if (!strcmp(k.name, argv[1])) entry = k.call;
    if (!entry) { fprintf(stderr, "no kernel %s\n", argv[1]); return 1; }
    std::map<std::string, std::vector<char>> data; std::vector<std::vector<char>> hex(argc); std::vector<void *> at(argc), v;
    for (int i = 9; i < argc; i++) {
        char *eq = strchr(argv[i], '=');
        if (argv[i][0] == '=') {
            for (char *h = argv[i] + 1; *h; h += 2) { char two[3] = { h[0], h[1], 0 }; hex[i].push_back((char)strtoul(two, 0, 16)); }
            v.push_back(hex[i].data());
        } else if (eq) {
            *eq = 0; std::vector<char> b = load(eq + 1);
            for (auto &s : symbols) if (!strcmp(s.name, argv[i])) memcpy(s.at, b.data(), b.size());
        } else {
            if (!data.count(argv[i])) data[argv[i]] = load(argv[i]);
            at[i] = data[argv[i]].data(); v.push_back(&at[i]);
        }
    }
    values = v.data();
    std::vector<std::vector<char>> stack(d[3] * d[4] * d[5], std::vector<char>(65536));
    for (unsigned z = 0; z < d[2]; z++) for (unsigned y = 0; y < d[1]; y++) for (unsigned x = 0; x < d[0]; x++) { vm_.cta = { x, y, z }; run_cta(stack); }
    for (auto &p : data) { FILE *f = fopen(p.first.c_str(), "wb"); fwrite(p.second.data(), 1, p.second.size(), f); fclose(f); }
    return 0;
}
