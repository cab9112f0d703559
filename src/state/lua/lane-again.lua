--[[ lane-again: events that are sent again take places behind all that were entered, in the order given, once.
  Atomic because: two replays at once must not interleave the events of one record.
  KEYS 1 lanes · 2 pending · 3 entered · 4 revived
  ARGV 1 n · n × (workspace, lane or "", place, event id)
  RETURN n × ("head" | "behind")    Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local PLACE_WIDTH = 35
local n = tonumber(ARGV[1])
local answer = {}

for i = 0, n - 1 do
  local at = 4 * i + 2
  local workspace, lane, id = ARGV[at], ARGV[at + 1], ARGV[at + 3]
  local given = redis.call('HGET', KEYS[4], id)
  if not given then
    local furthest = redis.call('HGET', KEYS[3], workspace) or ARGV[at + 2]
    local count = redis.call('HINCRBY', KEYS[4], '', 1)
    given = string.sub(furthest, 1, PLACE_WIDTH - 8) .. string.format('%08d', count % 100000000)
    redis.call('HSET', KEYS[4], id, given)
    redis.call('ZADD', KEYS[2], 0, workspace .. SEP .. given)
    if lane ~= '' then redis.call('ZADD', KEYS[1], 0, lane .. SEP .. given .. SEP .. id) end
  end
  local head = lane == '' or redis.call('ZRANGEBYLEX', KEYS[1], '[' .. lane .. SEP, '(' .. lane .. AFTER_SEP, 'LIMIT', 0, 1)[1]
  answer[i + 1] = (head == true or head == lane .. SEP .. given .. SEP .. id) and 'head' or 'behind'
end
return answer
