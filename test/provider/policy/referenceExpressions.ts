/* Expressions as the public service's documentation has them, one a line. None of them is a mistake. */

/** The calls of the page Macros. */
export const macroCalls = String.raw`
base64.decode('aGVsbG8')
base64.encode(b'hello')
basic_auth.encode('username', 'password1')
b'hello'.size()
hash.crc32('hello')
hash.crc32('hello', 'hex')
hash.crc32('hello', 'base64')
hash.crc64('hello')
hash.crc64('hello', 'base64')
hash.md5('hello')
hash.md5('hello', 'hex')
hash.md5('hello', 'base64')
hash.sha1('hello', 'hex')
hash.sha1('hello', 'base64')
hash.sha256('hello')
hash.sha256('hello', 'hex')
hash.sha512('hello')
hash.sha512('hello', 'hex')
hash.sha512('hello', 'base64')
hash.xxhash64('hello')
hash.xxhash64('hello', 'base64')
json.decode('{"a":"b"}')
json.decode('["a","b","c"]')
json.encode({"a":"b"})
[1, 2, 3].all(x, x > 0)
["a","b","c"].encodeJson()
[1, -2, 3].exists(x, x > 0)
[1, 2, 3].exists_one(x, x == 2)
['hello', 'mellow'].join()
['hello', 'mellow'].join(' ')
[].join()
[].join('/')
[1, 2, 3, 4].map(num, num % 2 == 0, num * 2)
['hello', 'world'].size()
size(['hello', 'world'])
[1,2,3,4].slice(1, 3)
[1,[2,3],[4]].flatten()
[1,[2,[3,4]]].flatten()
[1,2,[],[],[3,4]].flatten()
[1,[2,[3,[4]]]].flatten(2)
[3, 2, 1].sort()
["b", "c", "a"].sort()
[1, "b"].sort()
[[1, 2, 3]].sort()
[1, 2, 2, 3, 3, 3].distinct()
["b", "b", "c", "a", "c"].distinct()
[1, "b", 2, "b"].distinct()
lists.range(5)
{"a":"b","c":"d"}.encodeJson()
{"a":"b","c":"d"}.encodeQueryString()
{'one': 1, 'two': 2}.exists(x, x.startsWith('o'))
{'one': 1, 'two': 2}.exists_one(x, x == 'one')
{'one': 1, 'two': 2}.map(k, k)
{'one': 1, 'two': 2, 'three': 3}.map(k, k.startsWith('t'), k.upper())
{'hello': 'world'}.size()
size({1: true, 2: false})
queryString.encode({"a":"b","c":"d"})
matches("foobar", "foo.*")
"foobar".matches("foo.*")
matches("hello", "^h.*o$")
matches("test", "fail")
"test".matches("fail")
"hello world".startsWith("hello")
"foobar".startsWith("foo")
"test".startsWith("")
"hello world".endsWith("world")
"foobar".endsWith("bar")
"ngrok".endsWith("rocks")
"hello world".contains("world")
"foobar".contains("baz")
"ngrok".contains("gro")
"test".contains("")
'hello'.charAt(5)
'hello'.charAt(-1)
"hello".size()
size("world!")
'hello mellow'.indexOf('ello')
'hello mellow'.indexOf('jello')
'hello mellow'.indexOf('', 2)
'hello mellow'.indexOf('ello', 2)
"integer: %d".format([42])
"%f".format([3.14])
"%x".format([26])
"binary: %b".format([5])
'hello mellow'.lastIndexOf('')
'hello mellow'.lastIndexOf('ello')
'hello mellow'.lastIndexOf('jello')
'hello mellow'.lastIndexOf('ello', 6)
'hello mellow'.lastIndexOf('ello', -1)
'hello mellow'.split()
'hello mellow'.split(' ', 1)
'hello,mellow,hi'.split(',')
'hello mellow'.replace('l', 'L')
'hello mellow'.replace('l', 'L', 2)
'hello mellow'.replace('x', 'X')
"c29tZTp0aGluZw==".decodeBase64()
"a=b&c=d".decodeQueryString()
"some:thing".encodeBase64()
"i;md/r/$y".escapeUrl()
'{"a":"b","c":"d"}'.isJson()
'192.168.1.1'.isPrivateIp()
'a=b&c=d'.isQueryString()
'not a query string'.isQueryString()
'https://ngrok.com'.isURL()
"Ärger in Österreich, ÉCOLE, İSTANBUL, ЙОГА!".lower()
"Ärger in Österreich, ÉCOLE, İSTANBUL, ЙОГА!".upper()
"i%3Bmd%2Fr%2F%24y".unescapeUrl()
'hello'.md5()
'hello'.md5('base64')
'hello'.sha1()
'hello'.sha1('hex')
'hello'.sha1('base64')
'hello'.sha256('hex')
'hello'.sha256('base64')
'hello'.sha512()
'hello'.sha512('hex')
'hello'.crc32()
'hello'.crc32('hex')
'hello'.crc32('base64')
'hello'.crc64()
'hello'.crc64('base64')
'hello'.xxhash64()
'hello'.xxhash64('hex')
'hello'.xxhash64('base64')
'TacoCÆt Xii'.lowerAscii()
'TacoCat'.upperAscii()
'TacoCÆt Xii'.upperAscii()
'tacocat'.substring(4)
'tacocat'.substring(-1)
'tacocat'.substring(2, 1)
'  \ttrim\n    '.trim()
'gums'.reverse()
strings.quote('single-quote with "double quote"')
strings.quote("two escape sequences \a\n")
timestamp("2023-12-25T00:00:00Z").getDate()
timestamp("2023-12-25T00:00:00Z").getDate("America/Los_Angeles")
timestamp("2024-01-01T10:00:00Z").getDate("Asia/Tokyo")
timestamp("2023-12-25T00:00:00Z").getDayOfMonth()
timestamp("2023-12-25T00:00:00Z").getDayOfMonth("America/Los_Angeles")
timestamp("2023-12-25T12:00:00Z").getDayOfWeek()
timestamp("2023-12-25T12:00:00Z").getFullYear()
timestamp("2023-12-25T12:00:00Z").getHours()
duration("3h").getHours()
timestamp("2023-12-25T12:00:00.500Z").getMilliseconds()
timestamp("2023-12-25T12:30:00Z").getMinutes()
duration("1h30m").getMinutes()
timestamp("2023-12-25T12:00:00Z").getMonth()
timestamp("2023-12-25T12:30:30Z").getSeconds()
url.escape("i;md/r/$y")
url.unescape("i%3Bmd%2Fr%2F%24y")
inCidrRange('192.168.1.100', '192.168.1.0/24')
inCidrRanges('192.168.1.100', ['192.168.1.0/24', '10.0.0.0/8'])
url.parse("https://ngrok.com")
getReqCookie('session').secure
getReqHeader('User-Agent')[0].contains('curl')
'a' in getQueryParam('q')
hasQueryParam('q') && hasReqCookie('session') && hasReqHeader('User-Agent')
getResCookie('session').value != ''
getResHeader('Server').size() == 1
hasResCookie('session') || hasResHeader('Server')
[{'name': 'b'}, {'name': 'a'}].sortBy(x, x.name)[0].name == 'a'
[1, 2, 3].filter(x, x > 1).size() == 2
{'one': 1}.all(x, x.startsWith('o')) && {'one': 1}.filter(x, x != 'one') == []
queryString.decode('a=b').a == 'b'
rand.double() >= 0.5
rand.int() == 1
rand.int(0, 10) >= 5
secrets.get("vault-name", "secret-name")
"https://ngrok.com".parseUrl().host == 'ngrok.com'
url.parse(req.url).host == 'ngrok.com'
"{}".decodeJson().a == 1
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
conn.client_ip.geo.location.radius <= '5'
conn.k8s.pod.metadata.annotations['k8s.ngrok.com/environment'] == 'production'
conn.tls.client.extensions[0].value == b' '
conn.tls.client.issuer.country == ['US']
conn.tls.client.validity.not_after == timestamp('2023-01-01T00:00:00Z')
conn.ts.end < timestamp(time.now)
'bar' in req.url.query_params['foo']
req.content_type.parameters['charset'] == 'utf-8'
req.cookies['sessionId'][0].value > 'value'
req.headers["authorization"][0] == "Bearer my-token"
req.headers.exists_one(x, x == 'authorization')
size(req.cookies) > 0 && 'x' in req.headers && req.headers['x'][0].lower().startsWith('a')
res.cookies['sessionId'][0].max_age > duration('24h')
res.cookies['sessionId'][0].expires > timestamp(time.now)
res.status_code >= 400 && res.status_code < 500
res.content_length != 0
actions.ngrok.oauth.identity.email.endsWith('@example.com')
actions.ngrok.jwt_validation.tokens[0].payload.sub == 'a'
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
optional.of(1).hasValue()
req.url.port == null
req.content_length == 1.0
1 == 1.0
`
  .trim()
  .split("\n");
