"""A validator for the part of JSON Schema (draft 2020-12) that gpulocw schema uses. An unknown keyword is an error."""

KNOWN = {'$schema', 'title', 'description', '$defs', '$ref', 'anyOf', 'allOf', 'type', 'const', 'properties', 'required', 'items'}
TYPES = {'string': str, 'boolean': bool, 'object': dict, 'array': list, 'null': type(None)}


def is_type(value, name):
    if name in ('integer', 'number'):
        return not isinstance(value, bool) and isinstance(value, int if name == 'integer' else (int, float))
    return isinstance(value, TYPES[name])


def errors(value, schema, root, where=''):
    """What does not hold, a line each."""
    bad = ['%s: unknown keyword %s' % (where, k) for k in set(schema) - KNOWN]
    if '$ref' in schema:
        bad += errors(value, root['$defs'][schema['$ref'].rsplit('/', 1)[1]], root, where)
    for each in schema.get('allOf', []):
        bad += errors(value, each, root, where)
    if 'anyOf' in schema and all(errors(value, each, root, where) for each in schema['anyOf']):
        bad.append('%s: none of anyOf' % where)
    if 'const' in schema and value != schema['const']:
        bad.append('%s: %r is not %r' % (where, value, schema['const']))
    types = schema.get('type', [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        return bad + ['%s: %r is no %s' % (where, str(value)[:40], ' or '.join(types))]
    if isinstance(value, dict):
        bad += ['%s: no %s' % (where, k) for k in schema.get('required', []) if k not in value]
        for k, each in schema.get('properties', {}).items():
            if k in value:
                bad += errors(value[k], each, root, where + '.' + k)
    if isinstance(value, list) and 'items' in schema:
        for v in value:
            bad += errors(v, schema['items'], root, where + '[]')
    return bad
