/*
 * The calls in the public service's reference of functions, by its documentation of August 2026.
 */

/** The calls that run here, each with its result as an expression. */
export const simulated = `
basic_auth.encode('username', 'password1') → "Basic dXNlcm5hbWU6cGFzc3dvcmQx" ; b'hello'.size() → 5
[1, 2, 3].all(x, x > 0) → true ; [1, -2, 3].exists(x, x > 0) → true ; [1, 2, 3].exists_one(x, x == 2) → true
['hello', 'mellow'].join() → 'hellomellow' ; ['hello', 'mellow'].join(' ') → 'hello mellow' ; [].join() → ''
[].join('/') → '' ; [1, 2, 3, 4].map(num, num % 2 == 0, num * 2) → [4, 8] ; ['hello', 'world'].size() → 2
size(['hello', 'world']) → 2 ; {'one': 1, 'two': 2}.exists(x, x.startsWith('o')) → true
{'one': 1, 'two': 2}.exists_one(x, x == 'one') → true ; {'one': 1, 'two': 2}.map(k, k) → ['one', 'two']
{'one': 1, 'two': 2, 'three': 3}.map(k, k.startsWith('t'), k.upper()) → ['TWO', 'THREE']
{'hello': 'world'}.size() → 1 ; size({1: true, 2: false}) → 2 ; matches("foobar", "foo.*") → true
"foobar".matches("foo.*") → true ; matches("hello", "^h.*o$") → true ; matches("test", "fail") → false
"test".matches("fail") → false ; "hello world".startsWith("hello") → true
"foobar".startsWith("foo") → true ; "test".startsWith("") → true ; "hello world".endsWith("world") → true
"foobar".endsWith("bar") → true ; "ngrok".endsWith("rocks") → false ; "hello world".contains("world") → true
"foobar".contains("baz") → false ; "ngrok".contains("gro") → true ; "test".contains("") → true
"hello".size() → 5 ; size("world!") → 6 ; 'hello mellow'.split() → ['hello', 'mellow']
'hello mellow'.split(' ', 1) → ['hello'] ; 'hello,mellow,hi'.split(',') → ['hello', 'mellow', 'hi']
"Ärger in Österreich, ÉCOLE, İSTANBUL, ЙОГА!".lower() → "ärger in österreich, école, istanbul, йога!"
"Ärger in Österreich, ÉCOLE, İSTANBUL, ЙОГА!".upper() → "ÄRGER IN ÖSTERREICH, ÉCOLE, İSTANBUL, ЙОГА!"
inCidrRange('192.168.1.100', '192.168.1.0/24') → true
inCidrRanges('192.168.1.100', ['192.168.1.0/24', '10.0.0.0/8']) → true
url.parse("https://ngrok.com") → {'host': 'ngrok.com', 'scheme': 'https'}
`
  .trim()
  .split(/ ; |\n/)
  .map((line): readonly [call: string, result: string] => {
    const [call = "", result = ""] = line.split(" → ");
    return [call, result];
  });

/** A call of each function that does not run here. */
export const refused: readonly string[] = String.raw`
base64.decode('aGVsbG8') ; base64.encode(b'hello') ; hash.crc32('hello') ; hash.crc64('hello')
hash.md5('hello') ; hash.sha1('hello', 'hex') ; hash.sha256('hello') ; hash.sha512('hello')
hash.xxhash64('hello') ; json.decode('{"a":"b"}') ; json.encode({"a":"b"}) ; ["a","b","c"].encodeJson()
[1,2,3,4].slice(1, 3) ; [1,[2,3],[4]].flatten() ; [3, 2, 1].sort() ; [1, 2, 2, 3, 3, 3].distinct()
lists.range(5) ; {"a":"b","c":"d"}.encodeJson() ; {"a":"b","c":"d"}.encodeQueryString()
queryString.encode({"a":"b","c":"d"}) ; 'hello'.charAt(5) ; 'hello mellow'.indexOf('ello')
"integer: %d".format([42]) ; 'hello mellow'.lastIndexOf('') ; 'hello mellow'.replace('l', 'L')
"c29tZTp0aGluZw==".decodeBase64() ; "a=b&c=d".decodeQueryString() ; "some:thing".encodeBase64()
"i;md/r/$y".escapeUrl() ; '{"a":"b","c":"d"}'.isJson() ; '192.168.1.1'.isPrivateIp()
'a=b&c=d'.isQueryString() ; 'https://ngrok.com'.isURL() ; "i%3Bmd%2Fr%2F%24y".unescapeUrl() ; 'hello'.md5()
'hello'.sha1() ; 'hello'.sha256('hex') ; 'hello'.sha512() ; 'hello'.crc32() ; 'hello'.crc64()
'hello'.xxhash64() ; 'TacoCÆt Xii'.lowerAscii() ; 'TacoCat'.upperAscii() ; 'tacocat'.substring(4)
'  \ttrim\n    '.trim() ; 'gums'.reverse() ; strings.quote('single-quote with "double quote"')
timestamp("2023-12-25T00:00:00Z").getDate() ; timestamp("2023-12-25T00:00:00Z").getDayOfMonth()
timestamp("2023-12-25T12:00:00Z").getDayOfWeek() ; timestamp("2023-12-25T12:00:00Z").getFullYear()
timestamp("2023-12-25T12:00:00Z").getHours() ; duration("3h").getHours()
timestamp("2023-12-25T12:00:00.500Z").getMilliseconds() ; timestamp("2023-12-25T12:30:00Z").getMinutes()
duration("1h30m").getMinutes() ; timestamp("2023-12-25T12:00:00Z").getMonth()
timestamp("2023-12-25T12:30:30Z").getSeconds() ; url.escape("i;md/r/$y") ; url.unescape("i%3Bmd%2Fr%2F%24y")
`
  .trim()
  .split(/ ; |\n/);

export const calls = [...simulated, ...refused.map((call) => [call] as const)];
