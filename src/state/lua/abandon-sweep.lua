--[[ abandon-sweep: forgets the checkpoint of a sweep that can never be completed; the next one starts at the first page.
  What that sweep has written of records stands. Records that wait go on waiting. Whom it has shown, and the last complete
  sweep had not, is kept beside that one's members: nobody else would miss them.
  Atomic because: the sweep may have passed to another process, whose checkpoint must stay.
  KEYS 1 sweep · 2 walk · 3 lease · 4 members    ARGV 1 token · 2 field of the strays · 3 their packed keys
  RETURN {"committed", 0} · {"fenced", holder or ""}    Cost O(pages). ]]
local holder = redis.call('GET', KEYS[3])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end
-- The version byte alone: there are none.
if #ARGV[3] > 1 then redis.call('HSET', KEYS[4], ARGV[2], ARGV[3]) end
redis.call('HDEL', KEYS[1], 'checkpoint')
for _, name in ipairs(redis.call('HKEYS', KEYS[2])) do
  if string.sub(name, 1, 2) ~= 'h ' then redis.call('HDEL', KEYS[2], name) end
end
return { 'committed', 0 }
