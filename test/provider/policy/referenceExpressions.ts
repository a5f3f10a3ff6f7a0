/* Expressions as the public service's documentation has them, one a line. None of them is a mistake. */

/** Calls from the page Macros, beside those of `calls`, whose results are known. */
export const macroCalls = `
getReqCookie('session').secure
'a' in getQueryParam('q')
hasQueryParam('q') && hasReqCookie('session') && hasReqHeader('User-Agent')
getResCookie('session').value != ''
hasResCookie('session') || hasResHeader('Server')
[{'name': 'b'}, {'name': 'a'}].sortBy(x, x.name)[0].name == 'a'
{'one': 1}.all(x, x.startsWith('o')) && {'one': 1}.filter(x, x != 'one') == []
queryString.decode('a=b').a == 'b'
rand.int(0, 10) >= 5
secrets.get("vault-name", "secret-name")
url.parse(req.url).host == 'ngrok.com'
has(req.headers['x-custom-header'])
has(vars.tier) && vars.tier == 'gold'
inCidrRanges(conn.client_ip, ['66.249.66.1/24', '2001:4860::/32'])
timestamp("2023-12-25T12:00:00Z").getDayOfYear() > 1
duration("1.234s").getMilliseconds() == 234
`
  .trim()
  .split("\n");

/** Uses of variables, from the pages Variables, Expressions and those of the actions. */
export const variableUses = `
double(conn.geo.latitude) >= 45.0
conn.client_ip in ['::1', '127.0.0.1']
'proxy.anonymous.tor' in conn.client_ip.categories
conn.k8s.pod.metadata.annotations['k8s.ngrok.com/environment'] == 'production'
conn.tls.client.extensions[0].value == b' '
conn.tls.client.validity.not_after == timestamp('2023-01-01T00:00:00Z')
'bar' in req.url.query_params['foo']
req.headers.exists_one(x, x == 'authorization')
size(req.cookies) > 0 && 'x' in req.headers && req.headers['x'][0].lower().startsWith('a')
res.cookies['sessionId'][0].max_age > duration('24h')
actions.ngrok.http_request.res.body.decodeJson().tier == 'gold'
actions.ngrok.oidc.userinfo_refreshed || actions.ngrok.oidc.user_info_refreshed
actions.ngrok.terminate_tls.error.code != '' || actions.ngrok.terminate_tls.error_code != ''
last_attempt.res.statusCode == 500 && attempts < 3
vars.models.map(m, m.name).join(',')
!(conn.client_ip in ['2001:4860:7:f0e::f4', '98.35.32.113'])
5 * (3 - 1) == 10 // a comment: req.path
`
  .trim()
  .split("\n");

/** Of what these mean, the documentation says nothing. */
export const openExpressions = `
math.greatest(1, 2) == 2
sets.contains([1], [1])
cel.bind(x, 1, x + 1) == 2
req.?host.orValue('') == ''
req.headers.\`x-a\`[0] == 'a'
[1, 2].first() == [2, 1].last()
[1, 2].exists_one ( i , v , v == i ) || [1, 2].existsOne(v, v == 1)
[1, 2].transformList(i, v, v + i) == [1, 3]
{'a': 1}.transformMapEntry(k, v, {k: v}) == {'a': 1}
req.url.path.contains(r'\\') && req.method == 'GET'
req.url.path.contains(R"""\\""") || req.url.path.contains(r'''a"\\''')
br'\\d' == b'a' && Br"a" == b'a'
r"""a\\""" == """a\\"""" && req.host != r'{'
timestamp('2026-01-31Z') < timestamp('2026-01-31T12:00:00.5+02:00')
optional.of(1).hasValue()
req.url.port == null
(req.host == '' ? null : 'a') != ''
req.content_length == 1.0
`
  .trim()
  .split("\n");
