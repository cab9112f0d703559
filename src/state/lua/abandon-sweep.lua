--[[ abandon-sweep: forgets the checkpoint of a sweep that can never be completed; the next one starts at the first page.
  What that sweep has written of records stands. Records that wait go on waiting.
  Atomic because: the sweep may have passed to another process, whose checkpoint must stay.
  KEYS 1 sweep · 2 walk · 3 lease    ARGV 1 token
  RETURN {"abandoned"} · {"fenced", holder or ""}    Cost O(pages). ]]
local holder = redis.call('GET', KEYS[3])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end
redis.call('HDEL', KEYS[1], 'checkpoint')
for _, name in ipairs(redis.call('HKEYS', KEYS[2])) do
  if string.sub(name, 1, 2) ~= 'h ' then redis.call('HDEL', KEYS[2], name) end
end
return { 'abandoned' }
