--[[ promote-pages: moves the members of some pages of a complete sweep to the members of the last complete sweep.
  Atomic because: a page in neither hash would lose its members, and with them their removals. A repetition after a crash finds
  the pages gone from the walk and skips them.
  KEYS 1 walk · 2 members · 3 lease    ARGV 1 token · 2 n · n × field of a page to move · further fields to delete
  RETURN {"committed", pages moved} · {"fenced", holder or ""}    Cost O(pages named). ]]
local holder = redis.call('GET', KEYS[3])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end

local promoted = 0
local last = 2 + tonumber(ARGV[2])
for i = 3, last do
  local keys = redis.call('HGET', KEYS[1], ARGV[i])
  if keys then
    redis.call('HSET', KEYS[2], ARGV[i], keys)
    redis.call('HDEL', KEYS[1], ARGV[i])
    promoted = promoted + 1
  end
end
for i = last + 1, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
return { 'committed', promoted }
